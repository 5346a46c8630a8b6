// Takes the pictures of the README and of link previews in Chromium, in light colors.
//
//     node pictures.mjs CHROMIUM SITE CHAT FOLDER
import { join } from "node:path";

import puppeteer from "puppeteer-core";

const [executablePath, site, chat, folder] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });

const opened = async (url, width, height) => {
  const page = await browser.newPage();
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: "light" },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setViewport({ width, height });
  await page.goto(url, { waitUntil: "networkidle0" });
  return page;
};
const taken = (page, name) => page.screenshot({ path: join(folder, `${name}.png`) });

await taken(await opened(`${site}/index.html`, 1200, 630), "card");

const matrix = await opened(`${site}/matrix.html?endpoint=chat`, 1280, 640);
await matrix.evaluate(() => document.getElementById("chat.min_p").scrollIntoView());
await new Promise((resolve) => setTimeout(resolve, 1000)); // the title fades
await taken(matrix, "matrix");

const page = await opened(chat, 900, 560);
await page.waitForSelector("#model option");
await page.$eval("#more", (element) => { element.value = '{"temperature": 0}'; });
await page.type("#text", "What is the capital of Germany?");
await page.keyboard.press("Enter");
await page.waitForFunction(() => document.getElementById("status").textContent === "The answer is complete.");
await taken(page, "chat");
await browser.close();
console.log("{}");
