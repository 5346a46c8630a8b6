// In the reference: what an operation answers as a stream. Prints what is said of its events.
//
//     node events.mjs CHROMIUM REFERENCE
import puppeteer from "puppeteer-core";

const [executablePath, reference] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 900 });
await page.goto(reference, { waitUntil: "networkidle0" });
const answer = await page.waitForSelector('[id$="POST/chat/completions.responses.200"]');
const said = (words) =>
  page.waitForFunction((button, words) => words.every((each) => button.parentElement.innerText.includes(each)), {}, answer, words);
await answer.evaluate((button) => button.click());
await said(["application/json"]);
await answer.evaluate((button) => {
  [...button.parentElement.querySelectorAll("button")].find((each) => each.innerText.includes("application/json")).click();
});
const other = await page.waitForSelector("[role=option]::-p-text(text/event-stream), [role=menuitem]::-p-text(text/event-stream)");
await other.evaluate((option) => option.click());
await said(["text/event-stream"]);
console.log(JSON.stringify({ text: await answer.evaluate((button) => button.parentElement.innerText) }));
await browser.close();
