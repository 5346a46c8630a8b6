// What the client sends, and how often.
import { Client } from "specvino-client";
import { asked, close, drained, events, print, says, told, url } from "./scripted.js";

// Waits are noted, and over at once. Node's own fetch needs the true timers, so it is another that answers here.
const TIMEOUT = 123_456;
const timer = globalThis.setTimeout;
let waits: number[] = [];
globalThis.setTimeout = ((run: () => void, ms: number) => {
  if (ms === TIMEOUT) return timer(run, ms);
  waits.push(ms);
  return timer(run, 0);
}) as typeof setTimeout;

async function waited(what: string, said?: string): Promise<number[]> {
  const answers = [
    new Response("{}", { status: 503, headers: said === undefined ? {} : { "retry-after": said } }),
    Response.json({}),
  ];
  waits = [];
  const fetch = async (): Promise<Response> => answers.shift()!;
  await told(what, () => new Client(url, { fetch, timeout: TIMEOUT }).listModels());
  return waits;
}

print("secondsWaited", await waited("seconds", "7"));
print("unsaidWaited", await waited("unsaid"));
const date = await waited("date", new Date(Date.now() + 50_000).toUTCString());
print("dateWaited", date.map((ms) => ms > 0 && ms <= 50_000));
for (const said of ["61", "soon", "Fri, 01 Jan 2100 00:00:00 GMT"]) print(`${said} waited`, await waited(said, said));
globalThis.setTimeout = timer;

const ask = { model: "m", messages: [{ role: "user" as const, content: "hi" }] };
const key = () => asked.map((each) => each.headers.authorization ?? null);

for (const [what, client] of [["key", new Client(url, { apiKey: "secret" })], ["noKey", new Client(url)]] as const) {
  says({}, events("[DONE]"));
  await client.listModels();
  await drained(client.createChatCompletionStream(ask));
  print(what, key());
}

for (const status of [429, 503]) {
  for (const [how, said] of [["Seconds", "0"], ["Date", new Date(Date.now() - 9000).toUTCString()]] as const) {
    says({ status, headers: { "retry-after": said } }, {});
    await told(`again${how}${status}`, () => new Client(url).createChatCompletion(ask));
    const [one, other] = asked.map((each) => each.headers["content-length"]);
    print(`same${how}${status}`, one !== "0" && one === other);
  }
}
says({ status: 503, headers: { "retry-after": "0" } });
await told("busy", () => new Client(url, { retries: 1 }).listModels());
print("retries", asked.length);
close();
