// How a row of the matrix looks on a phone: prints the widths of the matrix and what the row's cells are labeled with.
//
//     node cards.mjs CHROMIUM MATRIX ROW
import puppeteer from "puppeteer-core";

const [executablePath, matrix, row] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setViewport({ width: 390, height: 844, isMobile: true });
await page.goto(matrix, { waitUntil: "networkidle0" });
const shown = await page.evaluate((id) => {
  const box = document.querySelector(".matrix");
  const card = document.getElementById(id);
  card.scrollIntoView();
  const labels = [...card.querySelectorAll("td")].map((cell) => getComputedStyle(cell, "::before").content);
  return { content: box.scrollWidth, box: box.clientWidth, card: card.getBoundingClientRect().width, labels };
}, row);
console.log(JSON.stringify(shown));
await browser.close();
