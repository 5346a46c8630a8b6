// What the client sends, and how often.
import * as all from "specvino-client";
import { Client } from "specvino-client";
import { asked, close, drained, events, print, says, sent, told, url } from "./scripted.js";

// Waits are noted, and over at once. Node's own fetch needs the true timers, so it is another that answers here.
const TIMEOUT = 123_456;
const timer = globalThis.setTimeout;
Math.random = () => 0;
let waits: number[] = [];
globalThis.setTimeout = ((run: () => void, ms: number) => {
  if (ms === TIMEOUT) return timer(run, ms);
  waits.push(ms);
  return timer(run, 0);
}) as typeof setTimeout;

async function waited(what: string, ...answers: (Response | Error)[]): Promise<number[]> {
  waits = [];
  const fetch = async (): Promise<Response> => {
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  await told(what, () => new Client(url, { fetch, timeout: TIMEOUT, retries: 6 }).listModels());
  return waits;
}

function busy(retryAfter?: string, status = 503): Response {
  return new Response("{}", { status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } });
}

print("secondsWaited", await waited("seconds", busy("7"), Response.json({})));
const date = await waited("date", busy(new Date(Date.now() + 50_000).toUTCString()), Response.json({}));
print("dateWaited", date.map((ms) => ms > 0 && ms <= 50_000));
for (const said of ["61", "soon", "Fri, 01 Jan 2100 00:00:00 GMT"]) print(`${said} waited`, await waited(said, busy(said)));
const [no, lost] = [busy, () => new TypeError("lost")];
print("unsaidWaited", await waited("unsaid", no(), lost(), no(), lost(), no(), no(), Response.json({})));
for (const status of [408, 409, 429, 500, 599]) print(`${status} waited`, await waited(`${status}`, busy("0", status), Response.json({})));
globalThis.setTimeout = timer;

const ask = { model: "m", messages: [{ role: "user" as const, content: "hi" }] };
const key = () => asked.map((each) => each.headers.authorization ?? null);

for (const [what, client] of [["key", new Client(url, { apiKey: "secret" })], ["noKey", new Client(url)]] as const) {
  says({}, events("[DONE]"));
  await client.listModels();
  await drained(client.createChatCompletionStream(ask));
  print(what, key());
}

// The environment has an address and a key, which is for this address alone.
const environment = process.env;
says({});
environment["OPENAI_API_KEY"] = "of the environment";
environment["OPENAI_BASE_URL"] = url;
await new Client().listModels();
await new Client(undefined, { apiKey: "mine" }).listModels();
await new Client(undefined, { apiKey: undefined }).listModels();
await new Client(url).listModels();
print("environment", key());

for (const [how, said] of [["Seconds", "0"], ["Date", new Date(Date.now() - 9000).toUTCString()]] as const) {
  says({ status: 503, headers: { "retry-after": said } }, { hangs: true, lost: true }, {});
  await told(`again${how}`, () => new Client(url).createChatCompletion(ask));
  const keys = new Set(asked.map((each) => each.headers["idempotency-key"]));
  print(`same${how}`, [asked.length, keys.size, keys.has(undefined), new Set(sent.map((each) => JSON.stringify(each))).size]);
}
says({});
await new Client(url).listModels();
print("reading", asked[0]!.headers["idempotency-key"] ?? null);
says({ status: 503, headers: { "retry-after": "0" } });
await told("busy", () => new Client(url, { retries: 1 }).listModels());
print("retries", asked.length);

for (const status of [400, 401, 403, 404, 409, 418, 422, 429, 500, 599]) {
  says({ status, body: `{"error":{"message":"no"}}`, headers: { "x-request-id": "r" } });
  try {
    await new Client(url, { retries: 0 }).listModels();
  } catch (error) {
    if (!(error instanceof all.ApiError)) throw error;
    print(`error${status}`, [error.name, error instanceof (all as never as Record<string, typeof Error>)[error.name]!, error.message, error.requestId]);
  }
}

// A redirect is not followed: the same server would count the requests.
says({ status: 307, headers: { location: `${url}/elsewhere` } });
for (const stream of [false, true]) {
  const client = new Client(url, { apiKey: "secret" });
  try {
    await (stream ? drained(client.createChatCompletionStream(ask)) : client.createChatCompletion(ask));
  } catch (error) {
    if (!(error instanceof all.ApiError)) throw error;
    print(`redirect${stream}`, [error.message.replace(url, ""), asked.length]);
  }
}

// Options of one request are no fields of its body, and take the place of others.
const options = { headers: { "X-Mine": "1", authorization: "Bearer other" }, query: { a: [1, 2] }, timeout: 9999 };
says({}, events("[DONE]"));
await new Client(url, { apiKey: "secret" }).createResponse({ model: "m", input: "hi" }, { ...options, body: { input: "ho", more: 2 } });
await drained(new Client(url).createChatCompletionStream({ model: "m", messages: [] }, { ...options, body: { more: 2 } }));
print("options", asked.map(({ url, headers }, index) => [url, headers["x-mine"], headers.authorization, sent[index]]));
says({ hangs: true });
await told("ownTimeout", () => new Client(url).listModels({ timeout: 100 }));
print("ownTimeoutAsked", asked.length);
close();
