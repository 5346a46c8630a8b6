/** Sessions: WebSockets on which requests are sent, and the events of their answers come back. */

import { ConnectionFailed, TimedOut, isError, refusal } from "./errors.js";
import { object, pause, wait, type ClientOptions } from "./transport.js";

/** A request, with the messages of its answer that have come and weren't read yet. */
interface Turn {
  lane: unknown;
  waiting: { data: string; last: boolean }[];
  /** Nobody reads the rest of the answer. */
  left: boolean;
  wake: () => void;
}

/** What a session is for: the type of its messages, and the types of the events that end an answer. */
export interface Protocol {
  type: string;
  ends: readonly string[];
}

/** Opens a session. Throws ConnectionFailed or TimedOut; of a refused connection, WebSockets don't tell the reason. */
export async function open<Message extends object, Event>(
  url: string,
  protocol: Protocol,
  options: ClientOptions,
): Promise<Session<Message, Event>> {
  // Node's WebSocket takes headers, as no browser's does.
  const Socket = (options.webSocket ?? globalThis.WebSocket) as unknown as new (url: string, init?: object) => WebSocket;
  const init = options.apiKey ? [{ headers: { authorization: `Bearer ${options.apiKey}` } }] : [];
  const socket = new Socket(url.replace(/^http/, "ws"), ...init);
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => {
      reject(new TimedOut("the server took too long to open the connection"));
      socket.close();
    }, options.timeout ?? 300_000);
    const failed = (event: globalThis.Event): void => {
      clearTimeout(late);
      reject(new ConnectionFailed(String((event as { message?: unknown }).message ?? "the connection wasn't opened")));
    };
    socket.addEventListener("open", () => {
      clearTimeout(late);
      resolve();
    });
    socket.addEventListener("error", failed);
    socket.addEventListener("close", failed);
  });
  return new Session<Message, Event>(socket, protocol, options);
}

/** An open WebSocket. */
export class Session<Message extends object, Event> {
  readonly #socket: WebSocket;
  readonly #protocol: Protocol;
  readonly #timeout: number;
  readonly #retries: number;
  #turns: Turn[] = [];
  #closed: ConnectionFailed | undefined;

  constructor(socket: WebSocket, protocol: Protocol, options: ClientOptions) {
    this.#socket = socket;
    this.#protocol = protocol;
    this.#timeout = options.timeout ?? 300_000;
    this.#retries = options.retries ?? 2;
    socket.binaryType = "arraybuffer";
    const text = new TextDecoder();
    socket.addEventListener("message", ({ data }) => this.#take(typeof data === "string" ? data : text.decode(data as ArrayBuffer)));
    socket.addEventListener("close", ({ code, reason }) => this.#end(code, reason));
  }

  /**
   * The events of an answer, as they come. Nothing is sent before the first is asked for. Throws ApiError for a request
   * that is refused; others can be sent all the same. Who leaves early ends the reading, not the answer.
   */
  async *send(message: Message, options: { signal?: AbortSignal } = {}): AsyncGenerator<Event, void, undefined> {
    const signal = options.signal ?? new AbortController().signal;
    for (let attempt = 0; ; attempt++) {
      const turn = this.#ask(message);
      let ms: number | undefined;
      try {
        for (let begun = false; ms === undefined; begun = true) {
          const { data, last } = await this.#next(turn, signal);
          const event = object(data);
          if (isError(event)) {
            const { status, headers } = told(event);
            ms = begun || attempt >= this.#retries ? undefined : wait(status, headers, attempt);
            if (ms === undefined) throw refusal(event, status, headers);
          } else {
            yield event as Event;
            if (last) return;
          }
        }
      } finally {
        turn.left = true;
      }
      await pause(ms, signal);
    }
  }

  /** Ends the connection, and with it what isn't answered. */
  close(): void {
    this.#socket.close();
  }

  #ask(message: Message): Turn {
    if (this.#closed) throw this.#closed;
    const lane = (message as { stream_id?: unknown }).stream_id ?? undefined;
    const turn = { lane, waiting: [], left: false, wake: () => undefined };
    this.#turns.push(turn);
    this.#socket.send(JSON.stringify({ ...message, type: this.#protocol.type }));
    return turn;
  }

  async #next(turn: Turn, signal: AbortSignal): Promise<Turn["waiting"][number]> {
    for (;;) {
      const message = turn.waiting.shift();
      if (message !== undefined) return message;
      if (this.#closed) throw this.#closed;
      await this.#woken(turn, signal);
    }
  }

  /** Until something has come for a turn. */
  async #woken(turn: Turn, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let leave = (): void => undefined;
    let late: ReturnType<typeof setTimeout> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        turn.wake = resolve;
        leave = () => reject(signal.reason);
        signal.addEventListener("abort", leave);
        late = setTimeout(() => reject(new TimedOut("the server took too long to send an event")), this.#timeout);
      });
    } finally {
      clearTimeout(late);
      signal.removeEventListener("abort", leave);
    }
  }

  /** A message that has come belongs to the oldest request of its lane; one of no request's lane to the oldest of all. */
  #take(data: string): void {
    const event = fields(data);
    const turn = this.#turns.find(({ lane }) => lane === event.stream_id) ?? this.#turns[0];
    if (turn === undefined) return;
    const last = this.#protocol.ends.includes(String(event.type));
    if (last) this.#turns = this.#turns.filter((each) => each !== turn);
    if (turn.left) return;
    turn.waiting.push({ data, last });
    turn.wake();
  }

  #end(code: number, reason: string): void {
    this.#closed = new ConnectionFailed(`the connection was closed before the answer was complete: ${code} ${reason}`.trimEnd());
    for (const turn of this.#turns) turn.wake();
  }
}

/** What a message says of itself; nothing if it is no JSON object, for which its reader throws an InvalidAnswer. */
function fields(data: string): { type?: unknown; stream_id?: unknown } {
  try {
    return Object(JSON.parse(data)) as object;
  } catch {
    return {};
  }
}

/** An error has the status and the headers of an answer by HTTP. */
function told(event: unknown): { status: number | undefined; headers: Headers } {
  const { status, error } = event as { status?: unknown; error?: { headers?: Record<string, string> } };
  return { status: typeof status === "number" ? status : undefined, headers: new Headers(error?.headers ?? {}) };
}
