/** Formats and tools of conversations, in the form of each API that has some. */

import { InvalidAnswer } from "./errors.js";
import { fields, list, text } from "./texts.js";

export type Conversation = "chat" | "responses" | "messages";

/** A schema that describes itself by Standard JSON Schema 1, such as those of Zod 4.2, ArkType 2.1.28 and newer. */
export interface Schema<Value = unknown> {
  readonly "~standard": {
    readonly validate: (value: unknown) => Validated<Value> | Promise<Validated<Value>>;
    readonly jsonSchema: { readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown> };
  };
}

type Validated<Value> =
  | { readonly value: Value; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined }[] };

/** The value that an answer's text is, and the answer. */
export interface Parsed<Value, Answer> {
  value: Value;
  answer: Answer;
}

/** A function that a model may call. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** Of an object with the arguments. */
  readonly parameters: Schema;
  readonly run: (given: never) => unknown;
}

/** A tool whose `run` takes what `parameters` describe; its result may be a promise. */
export function tool<Value>(definition: Omit<Tool, "parameters" | "run"> & {
  readonly parameters: Schema<Value>;
  readonly run: (given: Value) => unknown;
}): Tool {
  return definition;
}

/** A body whose answer is JSON of a schema, which is named after its title. */
export function asking<Body extends object>(conversation: Conversation, body: Body, kind: Schema): Body {
  const schema = closed(described(kind)) as Record<string, unknown>;
  const name = String(schema["title"] ?? "answer").replace(/[^\w-]/g, "_").slice(0, 64);
  const named = { name, schema, strict: true };
  const said = body as Record<string, unknown>;
  if (conversation === "chat") return { ...body, response_format: { type: "json_schema", json_schema: named } };
  if (conversation === "responses") {
    return { ...body, text: { ...fields(said["text"]), format: { type: "json_schema", ...named } } };
  }
  return { ...body, output_config: { ...fields(said["output_config"]), format: { type: "json_schema", schema } } };
}

/** Throws InvalidAnswer for a text that is no such value, such as one that reached its limit of tokens. */
export async function parsed<Value, Answer extends object>(asked: PromiseLike<Answer>, kind: Schema<Value>): Promise<Parsed<Value, Answer>> {
  const answer = await asked;
  const checked = await validated(text(answer), kind);
  if ("reason" in checked) throw new InvalidAnswer(`the text isn't what was asked for: ${checked.reason}`);
  return { value: checked.value, answer };
}

/** The answer after all calls of these tools, in at most so many rounds. What a tool throws is thrown. */
export async function tools<Body extends object, Answer extends object>(
  conversation: Conversation,
  functions: readonly Tool[],
  body: Body,
  rounds: number | undefined,
  ask: (body: Body) => PromiseLike<Answer>,
): Promise<Answer> {
  const messages = conversation === "responses" ? "input" : "messages";
  const said = body as Record<string, unknown>;
  let turns = typeof said[messages] === "string" ? [{ role: "user", content: said[messages] }] : list(said[messages]);
  const own = functions.map((each) => declared(conversation, each));
  const asked = { ...body, tools: [...list(said["tools"]), ...own] };
  for (let left = rounds ?? 10; ; ) {
    const answer = await ask({ ...asked, [messages]: turns });
    left -= 1;
    const calls = left > 0 ? callsOf(conversation, answer as Record<string, unknown>) : [];
    const results: [string, string][] = [];
    for (const { id, name, given } of calls) {
      const called = functions.find((each) => each.name === name);
      if (called === undefined) return answer; // the caller's own tool
      results.push([id, await result(called, given)]);
    }
    if (calls.length === 0) return answer;
    turns = [...turns, ...answered(conversation, withoutNulls(answer) as Record<string, unknown>, results)];
  }
}

function declared(conversation: Conversation, { name, description = "", parameters }: Tool): object {
  const schema = described(parameters);
  if (conversation === "messages") return { name, description, input_schema: schema };
  const said = { name, description, parameters: schema };
  return conversation === "responses" ? { type: "function", ...said } : { type: "function", function: said };
}

interface Use {
  id: string;
  name: string;
  given: string;
}

/** Throws InvalidAnswer for a call that lacks something. */
function callsOf(conversation: Conversation, answer: Record<string, unknown>): Use[] {
  if (conversation === "chat") {
    const calls = list(fields(fields(list(answer["choices"])[0])["message"])["tool_calls"]).map(fields);
    return calls.filter((call) => "function" in call).map((call) => use(call["id"], fields(call["function"])));
  }
  if (conversation === "responses") {
    const items = list(answer["output"]).map(fields).filter((item) => item["type"] === "function_call");
    return items.map((item) => use(item["call_id"], item));
  }
  const blocks = list(answer["content"]).map(fields).filter((block) => block["type"] === "tool_use");
  return blocks.map((block) => use(block["id"], { ...block, arguments: JSON.stringify(block["input"] ?? {}) }));
}

function use(id: unknown, { name, arguments: given }: Record<string, unknown>): Use {
  if (typeof id !== "string" || typeof name !== "string" || typeof given !== "string") {
    throw new InvalidAnswer("a call of a tool lacks its id, name or arguments");
  }
  return { id, name, given };
}

/** What the tool returns, as text; the reason if the arguments aren't valid. */
async function result({ parameters, run }: Tool, given: string): Promise<string> {
  const checked = await validated(given || "{}", parameters);
  if ("reason" in checked) return `The arguments aren't valid: ${checked.reason}`;
  const value: unknown = await run(checked.value as never);
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
}

/** What continues the conversation: an answer, and the results of its calls by their ids. */
function answered(conversation: Conversation, answer: Record<string, unknown>, results: [string, string][]): unknown[] {
  if (conversation === "chat") {
    const { message } = fields(list(answer["choices"])[0]);
    return [message, ...results.map(([id, content]) => ({ role: "tool", tool_call_id: id, content }))];
  }
  if (conversation === "responses") {
    return [...list(answer["output"]), ...results.map(([id, output]) => ({ type: "function_call_output", call_id: id, output }))];
  }
  const blocks = results.map(([id, content]) => ({ type: "tool_result", tool_use_id: id, content }));
  return [{ role: "assistant", content: answer["content"] }, { role: "user", content: blocks }];
}

async function validated<Value>(said: string, kind: Schema<Value>): Promise<{ value: Value } | { reason: string }> {
  let given: unknown;
  try {
    given = JSON.parse(said);
  } catch (error) {
    return { reason: String(error) };
  }
  const checked = await kind["~standard"].validate(given);
  if (checked.issues === undefined) return { value: checked.value };
  const issues = checked.issues.map(({ message, path = [] }) => {
    const where = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return where === "" ? message : `${where}: ${message}`;
  });
  return { reason: issues.join("; ") };
}

function described(kind: Schema): Record<string, unknown> {
  const { $schema: _, ...schema } = kind["~standard"].jsonSchema.input({ target: "draft-2020-12" });
  return schema;
}

/** A schema whose objects have all their properties and no others, as strict formats need it. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== "object" || schema === null) return schema;
  const inside = Object.entries(schema).filter(([name]) => name !== "default");
  const said: Record<string, unknown> = Object.fromEntries(
    inside.map(([name, value]) => [name, name === "properties" || name === "$defs" ? each(fields(value), closed) : closed(value)]),
  );
  if ("properties" in said) Object.assign(said, { additionalProperties: false, required: Object.keys(fields(said["properties"])) });
  return said;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return each(Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null)), withoutNulls);
}

function each(values: Record<string, unknown>, change: (value: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
