// A server that does what it shouldn't, and what the client makes of it; the test reads the lines that it prints.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "specvino-client";

let status = 200;
let type = "text/event-stream";
let body = "";
let whole = true;
let asked = 0;
const server = createServer((_, response) => {
  asked++;
  const length = Buffer.byteLength(body) + (whole ? 0 : 10);
  response.writeHead(status, { "content-type": type, "content-length": length, "retry-after": "60" });
  if (whole) response.end(body);
  else response.write(body, () => response.destroy());
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const client = new Client(url);
const ask = { model: "m", messages: [{ role: "user" as const, content: "hi" }] };
const chunk = `data: {"object":"chat.completion.chunk","choices":[]}\n\n`;

async function told(what: string, use: () => Promise<unknown>): Promise<void> {
  let kind = "nothing";
  try {
    await use();
  } catch (error) {
    kind = (error as Error).name;
  }
  console.log(JSON.stringify({ [what]: kind }));
}
const stream = async (): Promise<void> => {
  for await (const _ of client.createChatCompletionStream(ask));
};

body = `${chunk}data: [DONE]\n\n`;
await told("whole", stream);
body = chunk;
await told("cut", stream);
whole = false;
await told("lost", stream);
type = "application/json";
await told("lostAnswer", () => client.createChatCompletion(ask));
whole = true;
body = `{"error":{"message":"no"}}`;
await told("error", stream);
body = "{}";
await told("answer", stream);
body = "nonsense";
await told("nonsense", () => client.createChatCompletion(ask));

// The caller's leaving ends the wait of a minute that the server asks for.
status = 503;
body = "{}";
const before = Date.now();
await told("left", () => client.createChatCompletion(ask, { signal: AbortSignal.timeout(200) }));
console.log(JSON.stringify({ waited: Date.now() - before > 30_000 }));

// Nothing is sent before the first event is asked for.
asked = 0;
client.createChatCompletionStream(ask);
const lazy = new Client("http://127.0.0.1:1/v1").createChatCompletionStream(ask);
await new Promise((resolve) => setTimeout(resolve, 100));
console.log(JSON.stringify({ asked }));
await told("nobody", async () => {
  for await (const _ of lazy);
});
server.close();
