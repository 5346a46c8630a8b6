// What a user of any system's client does; the test reads the line that it prints.
import { ApiError, Client } from "specvino-client";

const [url, apiKey] = process.argv.slice(2) as [string, string];
const client = new Client(url, { apiKey });
const models = (await client.listModels()).data.map((model) => model.id);
const messages = [{ role: "user" as const, content: "What is the capital of France?" }];
const ask = { model: "m", messages, temperature: 0 };

const answer = (await client.createChatCompletion(ask)).choices[0]?.message.content;
const pieces: string[] = [];
for await (const chunk of client.createChatCompletionStream(ask)) {
  for (const choice of chunk.choices) pieces.push(choice.delta.content ?? "");
}
const text = (await client.createCompletion({ model: "m", prompt: "Once" })).choices[0]?.text;

let error: number | null | undefined;
try {
  await client.createChatCompletion({ ...ask, temperature: -1 });
} catch (refusal) {
  if (!(refusal instanceof ApiError)) throw refusal;
  error = refusal.status;
}
console.log(JSON.stringify({ models, answer, pieces: pieces.length, stream: pieces.join(""), text, error }));
