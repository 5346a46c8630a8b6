// A server that does what it shouldn't, and what the client makes of it.
import { ApiError, Client } from "specvino-client";
import { asked, close, drained, events, lines, print, says, sent, told, url } from "./scripted.js";

const client = new Client(url);
const ask = { model: "m", messages: [{ role: "user" as const, content: "hi" }] };
const chunk = `{"object":"chat.completion.chunk","choices":[]}`;
const stream = () => drained(client.createChatCompletionStream(ask));

says(events(chunk, "[DONE]"));
await told("whole", stream);
says(events(chunk));
await told("cut", stream);
says({ ...events(chunk), lost: true });
await told("lost", stream);
says({ lost: true });
await told("lostAnswer", () => client.createChatCompletion(ask));
says({ body: `{"error":{"message":"no"}}` });
await told("error", stream);
says({ body: "{}" });
await told("answer", stream);
says({ body: "nonsense" });
await told("nonsense", () => client.createChatCompletion(ask));
says({ body: "[1]" });
await told("list", () => client.createChatCompletion(ask));
says(events("[1]"));
await told("listEvent", stream);

// What tells the end of a response's stream is an event; one that goes on behind an event may hold none.
const response = () => drained(client.createResponseStream({ model: "m", input: "hi" }));
for (const last of ["completed", "incomplete", "failed"]) {
  says(events(`{"type":"response.created"}`, `{"type":"response.${last}"}`));
  await told(last, response);
}
says(events(`{"type":"response.completed"}`, "[DONE] "));
await told("doneBehind", response);
says(events(`{"type":"response.created"}`));
await told("cutResponse", response);
await told("cutRest", () => drained(client.retrieveResponseStream("r", { starting_after: 0 })));
says(events());
await told("noResponse", response);
await told("noRest", () => drained(client.retrieveResponseStream("r", { starting_after: 9 })));

// A stream of lines ends with one that has a reason. Without being told, the server would stream.
const part = `{"message":{"role":"assistant","content":"\u2028é"},"done":false}`;
const last = `{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`;
const error = `{"error":"no","param":"messages.0","code":"bad"}`;
const lined = () => drained(client.ollamaChatStream({ ...ask, _debug_render_only: true }));
const answers = { Whole: lines(part, "", last), Cut: lines(part), Error: lines(part, error), Alone: { body: part }, List: { body: "[1]" }, Lost: { body: error } };
for (const [name, answer] of Object.entries(answers)) {
  says(answer);
  await told(`lines${name}`, lined);
}
says({ body: last }, { status: 400, body: error });
await client.ollamaChat(ask);
await client.ollamaChat(ask).catch((refused: unknown) => {
  if (refused instanceof ApiError) print("linesRefused", [refused.message, refused.param, refused.code]);
});
print("linesUnasked", sent.map((body) => (body as { stream: unknown }).stream));

// The caller's leaving ends the wait of a minute that the server asks for.
says({ status: 503, headers: { "retry-after": "60" } });
const before = Date.now();
await told("left", () => client.createChatCompletion(ask, { signal: AbortSignal.timeout(200) }));
print("waited", Date.now() - before > 30_000);

// Its status counts, whatever becomes of the rest.
says({ status: 400, body: `{"error":`, lost: true });
await told("lostRefusal", () => client.createChatCompletion(ask));
print("lostRefusalAsked", asked.length);
says({ body: "{", lost: true });
await told("lostBody", stream);

// A part of the path is no other path.
says({});
for (const id of ["", ".", ".."]) await told(`path${id}`, async () => client.deleteResponse(id));
print("pathAsked", asked.length);

// Node's own limits.
const undici = (code: string) => async () => Promise.reject(new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) }));
for (const code of ["UND_ERR_HEADERS_TIMEOUT", "ECONNREFUSED"]) {
  await told(code, () => new Client(url, { fetch: undici(code), retries: 0 }).listModels());
}

says({ hangs: true });
await told("late", () => new Client(url, { timeout: 100 }).listModels());
await told("lateStream", () => drained(new Client(url, { timeout: 100 }).createChatCompletionStream(ask)));

// Nothing is sent before the first event is asked for.
says({});
client.createChatCompletionStream(ask);
const lazy = new Client("http://127.0.0.1:1/v1", { retries: 0 }).createChatCompletionStream(ask);
await new Promise((resolve) => setTimeout(resolve, 100));
print("asked", asked.length);
await told("nobody", () => drained(lazy));
close();
