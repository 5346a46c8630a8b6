// An agent of OpenAI's Agents SDK, on responses and on chat completions. Prints a JSON object a line: what happened.
import { readFile } from "node:fs/promises";
import { Agent, MemorySession, OpenAIProvider, run, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";

const [baseURL, task, question] = process.argv.slice(2);
setTracingDisabled(true);

const place = z.object({ city: z.string().min(1).max(40), unit: z.enum(["celsius", "fahrenheit"]), days: z.number().int().min(1).max(9) });
const read_file = tool({
  name: "read_file",
  description: "Reads a text file.",
  parameters: z.object({ path: z.string() }),
  execute: ({ path }) => readFile(path, "utf8"),
});
const shown = (found) => console.log(JSON.stringify(found));

for (const way of ["responses", "chat"]) {
  const provider = new OpenAIProvider({ baseURL, apiKey: "none", useResponses: way === "responses" });
  const model = await provider.getModel("m");
  const agent = new Agent({ name: "reader", model, tools: [read_file], modelSettings: { temperature: 0 } });
  const session = new MemorySession();
  const first = await run(agent, task, { session });
  shown({ way, job: "read", text: first.finalOutput, items: first.newItems.map((item) => item.type) });
  const second = await run(agent, question, { session });
  shown({ way, job: "second turn", text: second.finalOutput });

  const stream = await run(agent, task, { stream: true });
  const deltas = [];
  for await (const event of stream) {
    if (event.type === "raw_model_stream_event" && event.data.type === "output_text_delta") deltas.push(event.data.delta);
  }
  await stream.completed;
  shown({ way, job: "stream", text: stream.finalOutput, deltas });

  const placed = await run(new Agent({ name: "placer", model, outputType: place }), question);
  shown({ way, job: "object", object: placed.finalOutput });
}
