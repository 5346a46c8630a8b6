// Parsed answers and loops of tools, in the form of each API, with schemas of two libraries.
import { type } from "arktype";
import { Client, tool } from "specvino-client";
import { z } from "zod";
import { close, print, says, sent, told, url, type Answer } from "./scripted.js";

const client = new Client(url, { retries: 0 });
const messages = [{ role: "user" as const, content: "hi" }];
const chat = { model: "m", messages };
const message = { model: "m", messages, max_tokens: 9 };
const response = { model: "m", input: "hi", text: { verbosity: "low" as const } };

const Sea = z.object({ depth: z.number() });
const City = z.object({ sunny: z.boolean(), seas: z.array(Sea).default([]) }).meta({ title: "A city" });
const Point = type({ x: "number" });

const text = (said: string) => ({
  chat: { choices: [{ index: 0, message: { role: "assistant", content: said } }] },
  responses: { output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: said }] }] },
  messages: { type: "message", content: [{ type: "text", text: said }] },
});
const json = (value: unknown): Answer => ({ body: JSON.stringify(value) });

const city = text('{"sunny": true, "seas": [{"depth": 1}]}');
const body = () => sent[0] as Record<string, Record<string, unknown>>;
says(json(city.chat));
const parsed = await client.chat.completions.parse(City, chat);
print("chat", [parsed.value, parsed.answer.choices.length, body()["response_format"]]);
says(json(city.responses));
print("responses", [(await client.responses.parse(City, response)).value, body()["text"]]);
says(json(city.messages));
print("messages", [(await client.messages.parse(City, message)).value, body()["output_config"]]);
says(json(text('{"x": 1}').chat));
const x: number = (await client.createChatCompletionParse(Point, chat)).value.x;
print("other", [x, (body()["response_format"]!["json_schema"] as { name: string }).name]);
for (const said of ['{"sunny": tr', '{"sunny": 1, "seas": []}']) {
  says(json(text(said).chat));
  try {
    await client.chat.completions.parse(City, chat);
  } catch (error) {
    print(said, `${(error as Error).name}: ${(error as Error).message}`.slice(0, 60));
  }
}

const given: unknown[] = [];
const weather = tool({
  name: "weather",
  description: "The weather of a city",
  parameters: z.object({ city: z.string(), days: z.number().default(1) }),
  run: async ({ city, days }) => {
    given.push([city, days]);
    if (city === "Atlantis") throw new RangeError("no such city");
    return city === "Bonn" ? "sunny" : { sunny: days };
  },
});
type Call = [id: string, name: string, given: string];
const calls = {
  chat: (...said: Call[]) => {
    const tool_calls = said.map(([id, name, given]) => ({ id, type: "function", function: { name, arguments: given } }));
    return json({ choices: [{ index: 0, message: { role: "assistant", content: null, tool_calls } }] });
  },
  responses: (...said: Call[]) => {
    const output = said.map(([call_id, name, given]) => ({ type: "function_call", call_id, name, arguments: given, status: null }));
    return json({ output: [{ type: "reasoning", summary: [] }, ...output] });
  },
  messages: (...said: Call[]) => {
    const content = said.map(([id, name, given]) => ({ type: "tool_use", id, name, input: JSON.parse(given) }));
    return json({ type: "message", content });
  },
};
const runs = {
  chat: () => client.chat.completions.runTools([weather], chat),
  responses: () => client.responses.runTools([weather], response),
  messages: () => client.messages.runTools([weather], message),
};
for (const api of ["chat", "responses", "messages"] as const) {
  given.length = 0;
  const first = calls[api](["1", "weather", '{"city":"Bonn"}'], ["2", "weather", '{"city":"Rome","days":2}'], ["3", "weather", '{"days":2}']);
  says(first, json(text("It is sunny.")[api]));
  const last = (await runs[api]()) as object;
  print(`${api}Tools`, [given, JSON.stringify(last).includes("It is sunny."), sent]);
}

says(calls.chat(["1", "weather", '{"city":"Bonn"}']));
await client.chat.completions.runTools([weather], chat, { rounds: 3 });
print("rounds", sent.length);
says(calls.chat(["1", "weather", '{"city":"Bonn"}'], ["2", "mine", "{}"]));
const mine = { type: "function" as const, function: { name: "mine" } };
await client.chat.completions.runTools([weather], { ...chat, tools: [mine] });
print("own", [sent.length, (body()["tools"] as unknown as { function: { name: string } }[]).map((each) => each.function.name)]);
says(calls.chat(["1", "weather", '{"city":"Atlantis"}']));
await told("thrown", () => client.chat.completions.runTools([weather], chat));
says(json({ choices: [{ index: 0, message: { tool_calls: [{ function: { name: "weather" } }] } }] }));
await told("lacking", () => client.chat.completions.runTools([weather], chat));
close();
