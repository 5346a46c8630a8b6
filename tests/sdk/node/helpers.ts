// What makes the client convenient: final answers, texts, pages and headers.
import { isDeepStrictEqual } from "node:util";
import { Client, InvalidAnswer, outputText } from "specvino-client";
import { close, drained, events, print, says, told, url } from "./scripted.js";

const client = new Client(process.argv[2]!);
const CHANGING = ["id", "created", "created_at", "completed_at", "system_fingerprint", "total_duration", "prompt_eval_duration", "eval_duration"];

/** An answer without ids, times and nulls. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const left = Object.entries(value).filter(([name, inner]) => inner !== null && !CHANGING.includes(name));
  return Object.fromEntries(left.map(([name, inner]) => [name, plain(inner)]));
}

const prompt = "What is the capital of France?";
const messages = [{ role: "user" as const, content: prompt }];
const chat = { model: "m", messages, temperature: 0, max_tokens: 24, n: 2, logprobs: true, top_logprobs: 2 };
const completion = { model: "m", prompt, temperature: 0, max_tokens: 8, logprobs: 1, n: 2 };
const response = { model: "m", input: prompt, temperature: 0, max_output_tokens: 24 };
const message = { model: "m", messages, temperature: 0, max_tokens: 24 };
const lines = { model: "m", options: { temperature: 0, num_predict: 24 }, logprobs: true };
const usage = { stream_options: { include_usage: true } };
const uses = {
  chat: [client.createChatCompletion(chat), client.createChatCompletionStream({ ...chat, ...usage })],
  completion: [client.createCompletion(completion), client.createCompletionStream({ ...completion, ...usage })],
  response: [client.createResponse(response), client.createResponseStream(response)],
  message: [client.createMessage(message), client.createMessageStream(message)],
  lines: [client.api.chat.create({ ...lines, messages }), client.api.chat.createStream({ ...lines, messages })],
  linesOfText: [client.ollamaGenerate({ ...lines, prompt }), client.ollamaGenerateStream({ ...lines, prompt })],
} as const;
for (const [name, [answer, stream]] of Object.entries(uses)) {
  const [whole, final] = [await answer, await stream.final()];
  print(name, [isDeepStrictEqual(plain(final), plain(whole)), outputText(whole) === outputText(final) && outputText(final) !== ""]);
  print(`${name}Status`, [stream.response?.status, stream.response?.headers.has("x-request-id")]);
}

const texts: string[] = [];
for await (const piece of client.createChatCompletionStream(chat).text()) texts.push(piece);
print("text", texts.join("") === outputText(await client.createChatCompletion(chat)) && texts.length > 2);

const left = client.createChatCompletionStream(chat);
for await (const _ of left) break;
await told("left", () => left.final());

const grouped = await client.chat.completions.create(chat);
const pieces: string[] = [];
for await (const piece of client.chat.completions.createStream(chat).text()) pieces.push(piece);
print("grouped", outputText(grouped) === pieces.join("") && (await client.models.list()).data.length === 1);

const { status, headers, answer } = await client.createChatCompletion(chat, { body: { bogus: 1 } }).received();
print("received", [status, headers.get("x-unsupported-params"), answer.choices.length]);

const input = [0, 1, 2, 3, 4].map((number) => ({ role: "user" as const, content: `number ${number}` }));
const stored = await client.createResponse({ model: "m", input, max_output_tokens: 1 });
const items: unknown[] = [];
for await (const item of client.listInputItemsAll(stored.id, { limit: 2, order: "asc" })) items.push(item);
print("items", items.length);
const models: string[] = [];
for await (const model of client.listModelsAll()) models.push(model.id);
print("models", models);

// Events that make no answer together are read one by one as they are.
const start = `{"type":"message_start","message":{"content":null}}`;
const block = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use"}}`;
const half = `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}`;
says(events(start, block, half, `{"type":"content_block_stop","index":0}`, `{"type":"message_stop"}`));
const broken = () => new Client(url).createMessageStream(message);
await told("broken", () => drained(broken()));
try {
  await broken().final();
} catch (error) {
  print("brokenFinal", error instanceof InvalidAnswer);
}
close();
