/** The text of answers and events, and the answer that a stream's events make together. */

type Fields = Record<string, unknown>;

/** Texts of which each chunk has a piece. Others, such as names, are whole in any chunk. */
const GROWING = new Set([
  "content", "refusal", "reasoning", "reasoning_content", "arguments", "text", "input", "transcript", "data", "thinking",
  "response",
]);

/** The text of an answer's first choice, or of all its messages; what an event adds to it; empty where there is none. */
export function text(answer: object): string {
  const said = fields(answer);
  const [choices, output] = [list(said["choices"]), list(said["output"])];
  if (choices.length > 0) {
    // A chunk may have another choice than the first.
    const first = fields(choices.find((choice) => !fields(choice)["index"]));
    const message = first["message"] ?? first["delta"];
    return string(message === undefined || message === null ? first["text"] : fields(message)["content"]);
  }
  if (output.length > 0) {
    const parts = output.filter((item) => fields(item)["type"] === "message").flatMap((item) => list(fields(item)["content"]));
    return joined(parts, "output_text");
  }
  if (said["type"] === "response.output_text.delta") return string(said["delta"]);
  if (said["type"] === "content_block_delta") return string(fields(said["delta"])["text"]);
  if (typeof said["done"] === "boolean") return string(said["message"] ? fields(said["message"])["content"] : said["response"]);
  return said["type"] === "message" ? joined(list(said["content"]), "text") : "";
}

function joined(parts: unknown[], type: string): string {
  return parts.map(fields).filter((part) => part["type"] === type).map((part) => string(part["text"])).join("");
}

/** The answer that events make together: chunks of choices, events of a response, or of a message, or lines. */
export class Fold {
  answer: Fields | undefined;
  /** JSON of the inputs of tools, by the index of their blocks. */
  readonly #inputs = new Map<unknown, string>();

  /** Throws where an event fits to none before. */
  add(event: object): void {
    const { type, choices, done, response, message, delta, usage } = event as Fields;
    if (Array.isArray(choices)) this.#addChunk(event as Fields, choices);
    else if (typeof done === "boolean") merge((this.answer ??= {}), event as Fields);
    else if (isFields(response)) this.answer = response;
    else if (type === "message_start") this.answer = { ...fields(message), content: [...list(fields(message)["content"])] };
    else if (this.answer && type === "message_delta") {
      Object.assign(this.answer, fields(delta), { usage: { ...fields(this.answer["usage"]), ...fields(usage) } });
    } else if (this.answer && String(type).startsWith("content_block")) {
      this.#addBlock(this.answer["content"] as unknown[], event as Fields);
    }
  }

  #addChunk(chunk: Fields, choices: unknown[]): void {
    const kind = chunk["object"] === undefined ? {} : { object: string(chunk["object"]).replace(/\.chunk$/, "") };
    this.answer ??= { ...kind, choices: [] };
    for (const [name, value] of Object.entries(chunk)) {
      if (name !== "choices" && name !== "object" && (value !== null || !(name in this.answer))) this.answer[name] = value;
    }
    const pieces = choices.map((choice) => {
      const { delta, ...rest } = fields(choice);
      return delta === undefined ? rest : { ...rest, message: delta };
    });
    mergeList(this.answer["choices"] as unknown[], pieces);
  }

  #addBlock(blocks: unknown[], event: Fields): void {
    const { type, index } = event;
    if (type === "content_block_start") {
      blocks.push({ ...fields(event["content_block"]) });
      return;
    }
    const block = blocks[index as number];
    if (!isFields(block)) return;
    if (type === "content_block_stop") {
      const said = this.#inputs.get(index);
      if (said) block["input"] = JSON.parse(said);
      return;
    }
    for (const [name, value] of Object.entries(fields(event["delta"]))) {
      if (name === "partial_json") this.#inputs.set(index, (this.#inputs.get(index) ?? "") + string(value));
      else if (name === "citation") block["citations"] = [...list(block["citations"]), value];
      else if (name !== "type") block[name] = string(block[name]) + string(value);
    }
  }
}

function merge(whole: Fields, piece: Fields): void {
  for (const [name, value] of Object.entries(piece)) {
    const old = whole[name];
    if (isFields(old) && isFields(value)) merge(old, value);
    else if (Array.isArray(old) && Array.isArray(value)) mergeList(old, value);
    else if (typeof old === "string" && typeof value === "string" && GROWING.has(name)) whole[name] = old + value;
    else if (value !== null || !(name in whole)) whole[name] = structuredClone(value);
  }
}

/** Objects with an `index` continue those that have the same. */
function mergeList(whole: unknown[], pieces: unknown[]): void {
  for (const piece of pieces) {
    if (!isFields(piece)) {
      whole.push(piece);
      continue;
    }
    const index = piece["index"];
    let same = whole.find((other) => isFields(other) && index !== undefined && other["index"] === index) as Fields | undefined;
    if (same === undefined) whole.push((same = {}));
    merge(same, piece);
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Answers are open: another kind of value counts as none. */
export function fields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}
