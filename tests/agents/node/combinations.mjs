// Types that zod writes with several constraints on one value, as structured outputs of three clients.
// Prints a JSON object a line: the value that the client has parsed, or its error.
import { createOpenAI } from "@ai-sdk/openai";
import { Agent, OpenAIProvider, run, setTracingDisabled } from "@openai/agents";
import { generateObject } from "ai";
import OpenAI from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";

const [baseURL, model] = process.argv.slice(2);
setTracingDisabled(true);

const types = {
  date: z.iso.date(),
  time: z.iso.time(),
  date_time: z.iso.datetime({ offset: true }),
  duration: z.iso.duration(),
  uuid: z.uuid(),
  email: z.email().max(60),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  url: z.url().min(12).max(200),
  slug: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/).min(3).max(40),
  price: z.number().min(0).max(9999.99).multipleOf(0.01),
};

const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
const sdk = createOpenAI({ baseURL, apiKey: "none" });
const prompt = "Give an example.";

const ways = {
  async responses(schema) {
    const format = zodTextFormat(schema, "example");
    const answer = await client.responses.parse({ model, input: prompt, text: { format }, max_output_tokens: 300, temperature: 0 });
    return answer.output_parsed;
  },
  async chat(schema) {
    const messages = [{ role: "user", content: prompt }];
    const response_format = zodResponseFormat(schema, "example");
    const answer = await client.chat.completions.parse({ model, messages, response_format, max_tokens: 300, temperature: 0 });
    return answer.choices[0].message.parsed;
  },
  async ai_sdk(schema) {
    const { object } = await generateObject({ model: sdk(model), schema, prompt, maxOutputTokens: 300, temperature: 0, maxRetries: 0 });
    return object;
  },
  async agents(schema) {
    const provider = new OpenAIProvider({ baseURL, apiKey: "none", useResponses: true });
    const agent = new Agent({ name: "example", model: await provider.getModel(model), outputType: schema, modelSettings: { temperature: 0, maxTokens: 300 } });
    return (await run(agent, prompt)).finalOutput;
  },
};

for (const [way, ask] of Object.entries(ways)) {
  for (const [type, value] of Object.entries(types)) {
    const schema = z.object({ value });
    try {
      const found = await ask(schema);
      console.log(JSON.stringify({ way, type, value: schema.parse(found).value }));
    } catch (error) {
      console.log(JSON.stringify({ way, type, error: String(error).slice(0, 500) }));
    }
  }
}
