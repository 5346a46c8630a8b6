// The AI SDK's agent loop on each way to this API. Prints a JSON object a line: what happened.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [baseURL] = process.argv.slice(2);
const openai = createOpenAI({ baseURL, apiKey: "none" });
const compatible = createOpenAICompatible({ name: "specvino", baseURL, includeUsage: true });
const anthropic = createAnthropic({ baseURL, apiKey: "none" });

const ways = {
  responses: openai("tiny"),
  chat: openai.chat("tiny"),
  compatible: compatible("tiny"),
  anthropic: anthropic("tiny"),
};

function job(model, prompt, asked) {
  const get_weather = tool({
    description: "the",
    inputSchema: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      asked.push(city);
      return "sunny";
    },
  });
  return { model, prompt, temperature: 0, maxOutputTokens: 512, tools: { get_weather }, stopWhen: stepCountIs(4) };
}

for (const [way, model] of Object.entries(ways)) {
  const asked = [];
  const { text, steps, finishReason, totalUsage } = await generateText(job(model, "What is the weather in Rome?", asked));
  console.log(JSON.stringify({ way, asked, text, steps: steps.map((step) => step.finishReason), finishReason, totalUsage }));

  const askedInStream = [];
  const stream = streamText(job(model, "What is the weather in Tokyo?", askedInStream));
  const deltas = [];
  for await (const part of stream.fullStream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") deltas.push(part.text);
  }
  const reasons = (await stream.steps).map((step) => step.finishReason);
  console.log(JSON.stringify({ way: `${way}_stream`, asked: askedInStream, deltas, steps: reasons }));
}
