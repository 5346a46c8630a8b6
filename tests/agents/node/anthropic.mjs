// The official SDK of the Messages API: a call and its result, streamed too. Prints a JSON object a line: what happened.
import Anthropic from "@anthropic-ai/sdk";

const [baseURL] = process.argv.slice(2);
const client = new Anthropic({ baseURL, apiKey: "none", maxRetries: 0 });
const tools = [{ name: "get_weather", description: "the", input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } }];

async function job(city, ask) {
  const messages = [{ role: "user", content: `What is the weather in ${city}?` }];
  const request = { model: "tiny", max_tokens: 512, temperature: 0, tools, messages };
  const { input_tokens: counted } = await client.messages.countTokens({ model: "tiny", tools, messages });
  const called = await ask(request);
  const [call] = called.content.filter((block) => block.type === "tool_use");
  messages.push({ role: "assistant", content: called.content });
  messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] });
  const answer = await ask(request);
  return { input: call.input, counted, usage: called.usage, reasons: [called.stop_reason, answer.stop_reason], content: answer.content };
}

console.log(JSON.stringify({ way: "whole", ...(await job("Rome", (request) => client.messages.create(request))) }));

const deltas = [];
const streamed = await job("Tokyo", (request) => {
  deltas.length = 0;
  return client.messages.stream(request).on("text", (text) => deltas.push(text)).finalMessage();
});
console.log(JSON.stringify({ way: "stream", ...streamed, deltas }));

try {
  await client.messages.create({ model: "other", max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
} catch (error) {
  console.log(JSON.stringify({ way: "error", name: error.constructor.name, status: error.status, type: error.error.error.type }));
}
