/** A stream: its events, their text, and the answer that they make together. */

import { ConnectionFailed, InvalidAnswer } from "./errors.js";
import { events, type End } from "./events.js";
import { Fold, text } from "./texts.js";

/** The events, as they come. Nothing is sent before the first is asked for; leaving a loop over them ends the request. */
export class Stream<Event extends object, Answer> implements AsyncIterableIterator<Event> {
  readonly #events: AsyncGenerator<Event, void, undefined>;
  readonly #fold = new Fold();
  #unfolded: unknown;
  #isLeft = false;
  #response: Response | undefined;

  constructor(open: () => Promise<Response>, end: End, signal: AbortSignal | undefined) {
    this.#events = events(async () => (this.#response = await open()), end, signal);
  }

  /** Status and headers; undefined before the first event is asked for. */
  get response(): Response | undefined {
    return this.#response;
  }

  async next(): Promise<IteratorResult<Event, void>> {
    const step = await this.#events.next();
    if (!step.done && this.#unfolded === undefined) {
      try {
        this.#fold.add(step.value);
      } catch (error) {
        this.#unfolded = error; // who reads events alone needs no answer
      }
    }
    return step;
  }

  async return(): Promise<IteratorResult<Event, void>> {
    this.#isLeft = true;
    return await this.#events.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The pieces of the text, of the first choice. */
  async *text(): AsyncGenerator<string, void, undefined> {
    for await (const event of this) {
      const piece = text(event);
      if (piece !== "") yield piece;
    }
  }

  /** The whole answer, with what is read of it already; the rest is read. */
  async final(): Promise<Answer> {
    for (let step = await this.next(); !step.done; ) step = await this.next();
    if (this.#isLeft) throw new ConnectionFailed("the stream was left before its end");
    if (this.#unfolded !== undefined) throw new InvalidAnswer(`the events make no answer: ${String(this.#unfolded)}`);
    if (this.#fold.answer === undefined) throw new ConnectionFailed("the stream has no event of an answer");
    return this.#fold.answer as Answer;
  }
}
