// From the home page: does vLLM take min_p? Prints what the matrix shows after two clicks.
//
//     node two_clicks.mjs CHROMIUM HOME
import puppeteer from "puppeteer-core";

const [executablePath, home] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 900 });
await page.goto(home, { waitUntil: "networkidle0" });
await Promise.all([page.waitForNavigation({ waitUntil: "networkidle0" }), page.click(".hero a::-p-text(Support matrix)")]);
await page.click("#matrix-field");
await page.keyboard.type("min_p");
const rows = await page.$$eval(".matrix tr[id]", (all) => {
  const heads = [...document.querySelectorAll(".matrix thead th")];
  const column = heads.findIndex((head) => head.innerText.startsWith("vLLM"));
  return all.filter((row) => row.checkVisibility()).map((row) => [row.id, row.cells[column].innerText]);
});
console.log(JSON.stringify({ rows: Object.fromEntries(rows), url: page.url() }));
await browser.close();
