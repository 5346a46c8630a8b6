// Opens pages in Chromium as readers with wide and narrow, light and dark screens do, and prints a line of JSON for each
// view: what went wrong, and what is in the way of some readers.
//
//     node look.mjs CHROMIUM FOLDER URL...
//
// FOLDER takes a screenshot of each view.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import puppeteer from "puppeteer-core";

const [executablePath, folder, ...urls] = process.argv.slice(2);
const axe = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"];
args.push("--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1");
const VIEWS = { wide: { width: 1280, height: 900 }, narrow: { width: 390, height: 844 } };

/** Everything that is drawn only when it comes into view was in view, and the page is at its top again. */
const scrollThrough = async (page) => {
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight && y < 40_000; y += innerHeight) {
      scrollTo(0, y);
      await new Promise(requestAnimationFrame);
    }
    scrollTo(0, 0);
  });
  await page.waitForNetworkIdle({ idleTime: 100 });
};

const look = async (browser, url, scheme) => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const faults = [];
  const own = new URL(url).protocol === "file:" ? "file:" : new URL(url).origin;
  page.on("console", (said) => said.type() === "error" && faults.push(`console: ${said.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("requestfailed", (request) => faults.push(`failed: ${request.url()}`));
  page.on("response", (response) => response.status() >= 400 && faults.push(`status ${response.status()}: ${response.url()}`));
  page.on("request", (request) => {
    if (![own, "data:", "blob:"].some((known) => request.url().startsWith(known))) faults.push(`external: ${request.url()}`);
  });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setViewport(VIEWS.wide);
  await page.goto(url, { waitUntil: "networkidle0" });
  // The reference is drawn by a script.
  if (await page.$("#reference")) await page.waitForSelector("#reference h1, #reference h2");
  await scrollThrough(page);
  await page.evaluate(axe);
  for (const [name, view] of Object.entries(VIEWS)) {
    await page.setViewport(view);
    await scrollThrough(page);
    const [wide, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    if (wide > width) faults.push(`${name}: the page is ${wide} pixels wide`);
    const { violations } = await page.evaluate(() => window.axe.run({ preload: false }));
    for (const { id, nodes } of violations) faults.push(`${name}: ${id}: ${nodes.map((each) => each.target.join(" ")).slice(0, 3)}`);
    const path = new URL(url).pathname.slice(1).replace(/[^\w.-]/g, "_") || "index";
    if (own !== "file:") await page.screenshot({ path: join(folder, `${path}-${name}-${scheme}.png`) });
  }
  const text = await page.evaluate(() => document.body.innerText);
  console.log(JSON.stringify({ url, scheme, faults, text }));
  await context.close();
};

// The matrix has 30,000 links to look at, which takes a busy machine minutes.
const browser = await puppeteer.launch({ executablePath, args, protocolTimeout: 0 });
for (const url of urls) await Promise.all(["light", "dark"].map((scheme) => look(browser, url, scheme)));
await browser.close();
