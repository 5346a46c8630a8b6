"""Checks of the Messages API: tokens of prompts, stop sequences, streams, and keys in a header of its own."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import Session
from specvino.conformance.session.steadiness import ROUNDS, require_alike
from specvino.conformance.session.steps import expect
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable

# The length of a stop sequence, in characters.
STOP = 3


async def input_tokens_increase(
    session: Session, endpoint: str, *, than: Mapping[str, Any], bodies: Sequence[Mapping[str, Any]], by: int = 1
) -> None:
    """The prompt of each of the bodies has at least `by` more tokens than that of `than`."""
    short = await session.answered(endpoint, than)
    for body in bodies:
        long = await session.answered(endpoint, body)
        less, more = _input_tokens(short), _input_tokens(long)
        if more - less < by:
            message = f"input_tokens is {less} for the shorter prompt and {more} for the longer one, expected {by} more"
            raise Failed(message, short, long)


async def counted_as_used(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """The count of a conversation is that of the usage of an answer to it."""
    for body in bodies:
        counting = await session.answered("count_tokens", body)
        message = await session.answered("messages", body)
        count, used = counting.answer.get("input_tokens"), _input_tokens(message)
        if count != used:
            raise Failed(f"input_tokens is {count!r}, but {used} in the usage of an answer", counting, message)


async def stop_sequence_ends(session: Session, endpoint: str, *, body: Mapping[str, Any], stream: bool = False) -> None:
    """A text from the middle of an answer, as a stop sequence, ends the same answer before it, and is named."""
    full = await session.answered(endpoint, body)
    middle = len(_text(full)) // 2
    stop = _text(full)[middle : middle + STOP]
    if len(stop) < STOP or not stop.strip():
        raise Unsuitable("the answer is too short for a stop sequence")
    fields = {"stop_sequences": [stop], **({"stream": True} if stream else {})}

    async def truncated() -> Exchange:
        exchange = await session.answered(endpoint, {**body, **fields})
        if stop in _text(exchange):
            raise Failed(f"the stop sequence {stop!r} is in {_text(exchange)[:120]!r}", exchange)
        return exchange

    def differences(whole: Exchange, cut: Exchange) -> dict[str, str]:
        before, separator, _ = _text(whole).partition(stop)
        if not separator or _text(cut) != before:
            sentence = f"the text is {_text(cut)!r}, but before the stop sequence {stop!r} it was {before!r}"
            return {"text": sentence}
        if _end(cut) != ("stop_sequence", stop):
            reason, sequence = _end(cut)
            return {"end": f"stop_reason is {reason!r} and stop_sequence {sequence!r} after {stop!r}"}
        return {}

    def changes(one: Exchange, other: Exchange) -> dict[str, str]:
        return {name: "" for name, part in (("text", _text), ("end", _end)) if part(one) != part(other)}

    await require_alike(partial(session.answered, endpoint, body), truncated, differences, within=changes, first=full)


async def limit_named(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """An answer with as many tokens as `max_tokens` allows says so. One may end there by itself, but not at each of
    several limits."""
    for limit in range(body["max_tokens"], body["max_tokens"] + ROUNDS):
        exchange = await session.answered(endpoint, {**body, "max_tokens": limit})
        made, (reason, _) = (exchange.answer.get("usage") or {}).get("output_tokens"), _end(exchange)
        if made != limit:
            raise Unsuitable(f"the answer has {made} tokens, not the {limit} that its limit allows")
        if reason == "max_tokens":
            return
    raise Failed(f"stop_reason is {reason!r} after {made} tokens, which is the limit", exchange)


async def key_in_its_header(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A key in `x-api-key` is accepted, and a wrong one is refused."""
    key = session.client.target.key
    if key is None:
        raise NotExercised("no key was given")
    filled = {"model": session.model, "max_tokens": 1, **body}
    for sent, refused in ((key, False), (f"{key}-wrong", True)):
        headers = {"x-api-key": sent}
        exchange = await session.raw(
            "POST", paths()[endpoint], endpoint=endpoint, body=filled, headers=headers, key=False
        )
        expect(exchange, {"refused": "key"} if refused else {"status": [200]}, session.dialect, endpoint)


def _input_tokens(exchange: Exchange) -> int:
    tokens = (exchange.answer.get("usage") or {}).get("input_tokens")
    if type(tokens) is not int:
        raise NotExercised("the answer's usage has no input_tokens")
    return tokens


def _end(exchange: Exchange) -> tuple[Any, Any]:
    return exchange.answer.get("stop_reason"), exchange.answer.get("stop_sequence")


def _text(exchange: Exchange) -> str:
    blocks = exchange.answer.get("content") or ()
    return "".join(block.get("text") or "" for block in blocks if block.get("type") == "text")


async def streamed_blocks_apart(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The blocks of a stream with several calls have different indexes. Raises Unsuitable if there is one call only."""
    exchange = await session.answered(endpoint, {**body, "stream": True})
    exchange.require_stream()
    begun = [chunk for chunk in exchange.chunks if chunk.get("type") == "content_block_start"]
    if sum((chunk.get("content_block") or {}).get("type") == "tool_use" for chunk in begun) < 2:
        raise Unsuitable("the model makes fewer than two calls")
    indexes = [chunk.get("index") for chunk in begun]
    if repeated := [index for index in indexes if indexes.count(index) > 1]:
        raise Failed(f"the index {repeated[0]!r} is that of several blocks", exchange)
