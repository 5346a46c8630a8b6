// Which rows the matrix shows at an address, and then without the level: prints both lists of names and what it counts.
//
//     node filtered.mjs CHROMIUM MATRIX
import puppeteer from "puppeteer-core";

const [executablePath, matrix] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.goto(matrix, { waitUntil: "networkidle0" });
const shown = () =>
  page.evaluate(() => ({
    names: [...document.querySelectorAll(".matrix tr[id]")].filter((row) => row.checkVisibility()).map((row) => row.id),
    count: document.getElementById("matrix-count").textContent,
    address: location.search,
  }));
console.log(JSON.stringify(await shown()));
await page.select("#matrix-level", "");
console.log(JSON.stringify(await shown()));
await browser.close();
