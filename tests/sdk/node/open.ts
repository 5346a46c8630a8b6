// What a newer server may send, as the types have it: it compiles strictly, and comes as it was sent.
import { Client, type UnknownKind } from "specvino-client";
import { close, events, print, says, url } from "./scripted.js";

const client = new Client(url);
const response = {
  status: "asleep",
  tools: [{ type: "x", y: 1 }],
  output: [
    { type: "x", y: 1 },
    { type: "message", content: [{ type: "x", y: 1 }, { type: "output_text", text: "hi" }] },
  ],
};

function unknown(kind: UnknownKind): unknown[] {
  return [kind.type, kind["y"]];
}

says({ body: JSON.stringify(response) });
const answer = await client.createResponse({ model: "m", input: "hi" });
print("status", answer.status === "completed" ? "known" : answer.status);
print("output", answer.output.map((item) => {
  switch (item.type) {
    case "message":
      return item.content.map((part) => (part.type === "output_text" ? part.text : unknown(part as UnknownKind)));
    case "reasoning":
      return item.id;
    default:
      return unknown(item as UnknownKind);
  }
}));
print("tools", answer.tools.map((tool) => (tool.type === "function" ? tool.name : (tool as UnknownKind)["y"])));

says(events(`{"type":"response.sung","song":"la"}`, `{"type":"response.completed","response":{"status":"asleep"}}`));
const came: unknown[] = [];
for await (const event of client.createResponseStream({ model: "m", input: "hi" })) {
  if (event.type === "response.completed") came.push(event.response.status);
  else came.push(event.type, (event as UnknownKind)["song"]);
}
print("events", came);

says({ body: `{"choices":[{"index":0,"finish_reason":"tired","mood":1,"message":{"role":"assistant","content":null}}]}` });
const [choice] = (await client.createChatCompletion({ model: "m", messages: [] })).choices;
print("finish", choice!.finish_reason === "stop" ? "known" : choice!.finish_reason);
print("field", (choice as unknown as UnknownKind)["mood"]);
close();
