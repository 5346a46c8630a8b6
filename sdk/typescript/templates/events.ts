/** Streams of events. */

import { ConnectionFailed, InvalidAnswer, isError, refusal } from "./errors.js";
import { json, lost, object, text } from "./transport.js";

/**
 * What ends a stream: a text, or an event of one of some types or with a field. Where none is known, anything does. One
 * that is resumed may hold no event, since the caller may have the last. `lines` are events that aren't server-sent.
 */
export interface End {
  text?: string;
  types?: readonly string[];
  field?: string;
  lines?: boolean;
  resumed?: boolean;
}

/** The events of a stream. One that says that something went wrong is thrown as an ApiError. */
export async function* events<T>(
  open: () => Promise<Response>,
  end: End,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  const response = await open();
  if (response.headers.get("content-type")?.replace("ndjson", "").includes("json")) {
    const said = await text(response, signal);
    const value = json(said);
    if (isError(value)) throw refusal(value);
    if (!end.lines) throw new InvalidAnswer("the server sent one answer where a stream was asked for");
    yield object(said) as T; // where nothing is generated, a system may answer with the only line
    return;
  }
  let last: object | undefined;
  for await (const data of response.body === null ? [] : eventData(response.body, end.lines, signal)) {
    // Some servers send [DONE] behind the last event of other streams, too.
    if (data.trim() === end.text || data.trim() === "[DONE]") return;
    last = object(data);
    if (isError(last)) throw refusal(last);
    yield last as T;
  }
  check(end, last);
}

/** The connection was closed after this event, or before any. Throws ConnectionFailed where that is too early. */
function check(end: End, last: object | undefined): void {
  if (end.text !== undefined) throw new ConnectionFailed(`the stream broke off before its ${end.text}`);
  if (end.resumed && last === undefined) return;
  const event = (last ?? {}) as Record<string, unknown>;
  if ((end.types && !end.types.includes(String(event["type"]))) || (end.field !== undefined && !event[end.field])) {
    throw new ConnectionFailed("the stream broke off before its last event");
  }
}

/** The data of server-sent events, or the lines, which may be cut anywhere. */
async function* eventData(
  stream: ReadableStream<Uint8Array>,
  areLines: boolean | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw lost(error, signal);
      });
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      // A final CR may be half of a CR LF.
      const held = rest.endsWith("\r") ? "\r" : "";
      const lines = rest.slice(0, rest.length - held.length).split(/\r\n|\r|\n/);
      rest = (lines.pop() ?? "") + held;
      for (const line of lines) {
        if (areLines) {
          if (line.trim() !== "") yield line;
        } else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
        else if (line === "" && data.length > 0) {
          yield data.join("\n");
          data = [];
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
