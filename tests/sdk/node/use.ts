// What a user of the client does; the test reads the lines that it prints.
import { ApiError, Client, ConnectionFailed, tool, type Requests } from "specvino-client";
import { z } from "zod";

const client = new Client(process.argv[2]!);
const model = (await client.listModels()).data[0]!.id;
const messages: Requests["CreateChatCompletionRequest"]["messages"] = [
  { role: "user", content: "What is the capital of France?" },
];
const ask = { model, messages, temperature: 0, max_tokens: 24 };

const answer = await client.createChatCompletion(ask);
console.log(JSON.stringify({ answer: answer.choices[0]?.message.content }));

let text = "";
for await (const chunk of client.createChatCompletionStream(ask)) {
  for (const choice of chunk.choices) text += choice.delta.content ?? "";
}
console.log(JSON.stringify({ stream: text }));

const parameters = {
  type: "object",
  properties: { city: { enum: ["Paris", "Rome"] } },
  required: ["city"],
  additionalProperties: false,
};
const called = await client.createChatCompletion({
  ...ask,
  max_tokens: 64,
  tools: [{ type: "function", function: { name: "get_weather", parameters, strict: true } }],
  tool_choice: { type: "function", function: { name: "get_weather" } },
});
const call = called.choices[0]!.message.tool_calls![0]!;
console.log(JSON.stringify({ call: call.function?.name }));

// What came is sent back.
messages.push(called.choices[0]!.message as (typeof messages)[number]);
messages.push({ role: "tool", tool_call_id: call.id, content: "Sunny." });
const final = await client.createChatCompletion({ ...ask, messages, max_tokens: 16 });
console.log(JSON.stringify({ final: final.choices[0]!.message.role }));

const Capital = z.object({ city: z.enum(["Paris", "Rome"]), sure: z.boolean() });
const { value } = await client.chat.completions.parse(Capital, { ...ask, max_tokens: 64 });
const ran: string[] = [];
const weather = tool({ name: "get_weather", parameters: Capital, run: (given) => ran.push(typeof given.city) });
const tool_choice = { type: "function" as const, function: { name: "get_weather" } };
await client.chat.completions.runTools([weather], { ...ask, max_tokens: 64, tool_choice }, { rounds: 2 });
console.log(JSON.stringify({ parsed: Capital.safeParse(value).success, ran }));

const events: string[] = [];
for await (const event of client.createResponseStream({ model, input: "Say hello.", max_output_tokens: 4 })) {
  events.push(event.type);
}
console.log(JSON.stringify({ first: events[0], last: events.at(-1) }));

try {
  for await (const _ of client.createChatCompletionStream({ ...ask, model: "gpt-9" }));
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.log(JSON.stringify({ error: [error.status, error.type, error.param, error.code] }));
}

try {
  await new Client("http://127.0.0.1:1/v1", { retries: 0 }).listModels();
} catch (error) {
  console.log(JSON.stringify({ nobody: error instanceof ConnectionFailed }));
}

const leave = new AbortController();
try {
  for await (const _ of client.createChatCompletionStream({ ...ask, max_tokens: 2000 }, { signal: leave.signal })) {
    leave.abort();
  }
} catch (error) {
  console.log(JSON.stringify({ left: (error as Error).name }));
}
