// A server that answers as it is told to, and what a use of the client comes to; tests read the lines.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export interface Answer {
  status?: number;
  type?: string;
  headers?: Record<string, string>;
  body?: string;
  /** The connection is lost before the answer's end. */
  lost?: boolean;
  /** There is no answer at all. */
  hangs?: boolean;
}

export const asked: IncomingMessage[] = [];
/** The bodies of the requests. */
export const sent: unknown[] = [];
let answers: Answer[] = [];

/** Answers come in their order, the last one again and again. */
export function says(...said: Answer[]): void {
  asked.length = sent.length = 0;
  answers = said;
}

const server = createServer(async (request, response) => {
  asked.push(request);
  const pieces = await request.toArray();
  sent.push(pieces.length > 0 ? JSON.parse(Buffer.concat(pieces).toString()) : null);
  const { status = 200, type = "application/json", headers = {}, body = "{}", lost = false, hangs = false } =
    answers.length > 1 ? answers.shift()! : answers[0]!;
  if (hangs && lost) response.destroy();
  if (hangs) return;
  const length = Buffer.byteLength(body) + (lost ? 10 : 0);
  response.writeHead(status, { "content-type": type, "content-length": length, ...headers });
  if (lost) response.write(body, () => response.destroy());
  else response.end(body);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
export const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;

export function close(): void {
  server.close();
  server.closeAllConnections();
}

export function events(...data: string[]): Answer {
  return { type: "text/event-stream", body: data.map((each) => `data: ${each}\n\n`).join("") };
}

export function lines(...data: string[]): Answer {
  return { type: "application/x-ndjson", body: data.map((each) => `${each}\n`).join("") };
}

export function print(what: string, value: unknown): void {
  console.log(JSON.stringify({ [what]: value }));
}

/** Prints the name of the error that `use` throws. */
export async function told(what: string, use: () => Promise<unknown>): Promise<void> {
  let kind = "nothing";
  try {
    await use();
  } catch (error) {
    kind = (error as Error).name;
  }
  print(what, kind);
}

/** Reads a stream to its end. */
export async function drained(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}
