// The AI SDK's structured outputs and forced calls on each way to this API. Prints a JSON object a line: what came of it.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateObject, generateText, streamText, tool } from "ai";
import { z } from "zod";

const [baseURL, name] = process.argv.slice(2);
const openai = createOpenAI({ baseURL, apiKey: "none" });
const compatible = createOpenAICompatible({ name: "specvino", baseURL, supportsStructuredOutputs: true });
const anthropic = createAnthropic({ baseURL, apiKey: "none" });
const ways = { responses: openai(name), chat: openai.chat(name), compatible: compatible(name), anthropic: anthropic(name) };

const place = z.object({ city: z.string().min(1).max(40), unit: z.enum(["celsius", "fahrenheit"]), days: z.number().int().min(1).max(9) });
const get_weather = tool({ description: "The weather of the next days.", inputSchema: place });
const get_time = tool({ description: "The time in a city.", inputSchema: z.object({ city: z.string() }) });
const asked = { prompt: "What is the weather in Paris, in celsius, for 3 days?", temperature: 0, maxOutputTokens: 300, maxRetries: 0 };

for (const [way, model] of Object.entries(ways)) {
  const { object } = await generateObject({ model, schema: place, ...asked });
  console.log(JSON.stringify({ way, job: "object", object }));

  const forced = { model, tools: { get_weather, get_time }, toolChoice: "required", ...asked };
  const { toolCalls, finishReason } = await generateText(forced);
  console.log(JSON.stringify({ way, job: "call", calls: toolCalls.map((call) => [call.toolName, call.input]), finishReason }));

  const stream = streamText(forced);
  for await (const part of stream.fullStream) if (part.type === "error") throw part.error;
  const calls = (await stream.toolCalls).map((call) => [call.toolName, call.input]);
  console.log(JSON.stringify({ way, job: "stream", calls, finishReason: await stream.finishReason }));
}
