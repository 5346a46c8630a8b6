// Talks to the page at / of a server with a key as a person does, and prints a line of JSON: what the page shows after
// each step.
//
//     node chat.mjs CHROMIUM URL KEY
import puppeteer from "puppeteer-core";

const [executablePath, url, key] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath, args: ["--headless", "--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setViewport({ width: 1280, height: 900 });
const faults = [];
page.on("pageerror", (error) => faults.push(error.message));
page.on("console", (line) => line.type() === "error" && faults.push(line.text()));
await page.goto(url);

const log = () => page.$eval("#log", (element) => element.innerText);
const said = (text) => page.waitForFunction((wanted) => document.getElementById("status").textContent === wanted, {}, text);
const send = async (text) => {
  await page.type("#text", text);
  await page.keyboard.press("Enter");
};
const fill = (id, text) => page.$eval(id, (element, value) => { element.value = value; }, text);

await page.waitForSelector("#door[open]");
await page.type("#key", key);
await page.keyboard.press("Enter");
await page.waitForSelector("#model option");
const steps = { model: await page.$eval("#model", (element) => element.value) };
steps.stored = await page.evaluate(() => [localStorage.length, sessionStorage.length, document.cookie.length]);

// What a model repeats must not become markup.
await send("<img/src=x/id=injected>");
await said("The answer is complete.");
steps.answer = await log();
steps.injected = (await page.$("#injected")) !== null;

await page.click("#fresh");
await page.click("summary");
await page.click("#example");
await fill("#more", JSON.stringify({ ...JSON.parse(await page.$eval("#more", (element) => element.value)), tool_choice: "required" }));
await send("What is the weather?");
await said("The model calls a tool; give its result.");
steps.call = await log();
await fill("#more", "");
await page.type(".call textarea", "sunny");
await page.keyboard.press("Tab"); // to the button
await page.keyboard.press("Enter");
await said("The answer is complete.");
steps.after = await log();

await page.click("#fresh");
await fill("#text", "script: delay=0.2\none two three four five six seven eight nine ten " + "more ".repeat(500));
await page.click("#send");
await page.waitForFunction(() => document.querySelector(".assistant > .said")?.textContent.length > 6);
await page.click("#stop");
await said("Stopped.");
steps.stopped = await log();
console.log(JSON.stringify({ steps, faults }));
await browser.close();
