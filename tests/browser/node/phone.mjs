// How wide the tables of a page are on a phone: prints for each box of a table its content's width and its own, whether
// the first cells stay in view when it scrolls, and the text before it.
//
//     node phone.mjs CHROMIUM URL
import puppeteer from "puppeteer-core";

const [executablePath, url] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setViewport({ width: 390, height: 844, isMobile: true });
await page.goto(url, { waitUntil: "networkidle0" });
const shown = await page.evaluate(() =>
  [...document.querySelectorAll(".wide, .md-typeset__scrollwrap")].map((box) => ({
    content: box.scrollWidth,
    box: box.clientWidth,
    stays: getComputedStyle(box.querySelector("tbody td")).position === "sticky",
    before: box.previousElementSibling?.innerText,
  })),
);
for (const box of shown) console.log(JSON.stringify(box));
await browser.close();
