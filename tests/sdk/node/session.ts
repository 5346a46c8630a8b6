// Sessions: on our server, then on one that says what it shouldn't.
import { ApiError, Client, type Answers } from "specvino-client";
import { close, drained, print, told } from "./scripted.js";

const [url, apiKey, ...faulty] = process.argv.slice(2) as [string, string, ...string[]];
const client = new Client(url, { apiKey });
const session = await client.createResponseSession();

async function events(asked: Parameters<typeof session.send>[0]): Promise<Answers["ResponseStreamEvent"][]> {
  const came: Answers["ResponseStreamEvent"][] = [];
  for await (const event of session.send(asked)) came.push(event);
  return came;
}

async function response(asked: Parameters<typeof session.send>[0]): Promise<Answers["ResponseObject"]> {
  const last = (await events(asked)).at(-1)!;
  if (last.type !== "response.completed") throw new Error(last.type);
  return last.response;
}

function text(of: Answers["ResponseObject"]): string {
  return JSON.stringify(of.output).match(/"text":"([^"]*)"/)?.[1] ?? "";
}

const ask = { model: "m", temperature: 0, store: false };
const came = await events({ ...ask, input: "hello" });
print("types", [came[0]!.type, came.at(-1)!.type]);
const first = await response({ ...ask, input: "hello" });
const next = await response({ ...ask, input: "again", previous_response_id: first.id });
print("longer", next.usage!.input_tokens > first.usage!.input_tokens);
print("prepared", (await response({ ...ask, input: "hello", generate: false })).output);

const lanes = ["a", "b", "c", "d"];
print("lanes", (await Promise.all(lanes.map((lane) => response({ ...ask, input: `lane ${lane}`, stream_id: lane })))).map(text));

for await (const _ of session.send({ ...ask, input: "left" })) break;
print("afterLeft", text(await response({ ...ask, input: "read" })));

try {
  await events({ ...ask, input: "hi", temperature: 9 });
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  print("error", [error.status, error.param, error.code]);
}
print("afterError", text(await response({ ...ask, input: "read" })));
await told("aborted", () => drained(session.send({ ...ask, input: "hi" }, { signal: AbortSignal.abort() })));
session.close();
await told("closed", () => events({ ...ask, input: "hi" }));

await told("noKey", () => new Client(url).createResponseSession());
await told("nobody", () => new Client("http://127.0.0.1:1/v1").createResponseSession());

// Each server says another wrong thing.
for (const [number, each] of faulty.entries()) {
  await told(`fault${number}`, async () => {
    const wrong = await new Client(each, { timeout: 2000 }).createResponseSession();
    try {
      await drained(wrong.send({ ...ask, input: "hi" }));
    } finally {
      wrong.close();
    }
  });
}
close();
