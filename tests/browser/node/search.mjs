// What the search of the site finds: prints the titles and addresses of the first sections.
//
//     node search.mjs CHROMIUM HOME WORDS
import puppeteer from "puppeteer-core";

const [executablePath, home, words] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 900 });
await page.goto(home, { waitUntil: "networkidle0" });
await page.click(".md-search__input");
await page.keyboard.type(words);
await page.waitForSelector(".md-search-result__item");
const found = await page.$$eval(".md-search-result__item", (items) =>
  items.slice(0, 3).map((item) => {
    const section = item.querySelector(".md-search-result__link:not(:has(.md-search-result__icon))") ?? item.querySelector("a");
    return { title: section.querySelector("h1, h2").innerText, address: section.getAttribute("href") };
  }),
);
console.log(JSON.stringify({ found }));
await browser.close();
