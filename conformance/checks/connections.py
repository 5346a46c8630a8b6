"""Connections: reused, concurrent, left by their clients; and whether the chunks of a stream come as they are made."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from specvino.conformance.endpoints import LIMITS, paths
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session, about, require_alive, require_answer
from specvino.conformance.session.steps import counted, expect
from specvino.conformance.verdict import Failed, NotExercised

# Bytes of a body that no server has read by chance when it refuses it.
LARGE = 300_000


async def reused(session: Session, endpoint: str, *, body: Mapping[str, Any], refused: str | None = None) -> None:
    """After an answer, or after this refusal, the next request on the same connection is answered."""
    async with session.one_connection() as single:
        first = await single.send("chat", body)
        if refused is None:
            require_answer(first)
        elif first.ok:
            raise NotExercised("the request is answered, not refused")
        else:
            expect(first, {"refused": refused}, session.dialect, "chat")
        await _next(single, first)


async def reused_unread(session: Session, endpoint: str, *, path: str) -> None:
    """A long unread body isn't taken for the next request."""
    async with session.one_connection() as single:
        first = await single.raw("POST", path, content=b'{"text": "' + b"G" * LARGE + b'"}')
        # The server may check the path or the size first.
        expect(first, {"refused": ["unknown_route", "too_large"]}, session.dialect, "chat")
        await _next(single, first)


async def _next(single: Session, first: Exchange) -> None:
    with about(first):
        second = await single.raw("GET", paths()["models"], endpoint="models")
        require_alive(second)
    if first.connection and second.connection and first.connection != second.connection:
        raise Failed("the connection was closed after the answer, which didn't say so (Connection: close)", first)


async def each_its_own(session: Session, endpoint: str, *, to: str, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Concurrent requests each get their own answer: with the requested number of choices, and the same prompt tokens
    as alone."""
    alone = [await session.answered(to, {**body, "max_tokens": 1, "stream": False}) for body in bodies]
    exchanges = await session.together([(to, _with_usage(body)) for body in bodies])
    for body, single, exchange in zip(bodies, alone, exchanges, strict=True):
        require_answer(exchange)
        await _require_one_id(session, to, body, exchange)
        _require_same(exchange, len(list(outputs(exchange))), body.get("n", 1), "the answer has {} choices, not {}")
        among, before = counted(exchange, "prompt_tokens"), counted(single, "prompt_tokens")
        _require_same(exchange, among, before, "among others its prompt has {} tokens, alone {}")
        model = exchange.answer.get("model")
        _require_same(exchange, model, single.answer.get("model"), "among others the model is {}, alone {}")
    # Not all systems give one.
    ids = [exchange.answer["id"] for exchange in exchanges if "id" in exchange.answer]
    if len(set(ids)) < len(ids):
        raise Failed(f"answers at the same time have the ids {', '.join(map(str, ids))}", *exchanges)


async def echoed_together(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Concurrent prompts each come back before their own answer."""
    exchanges = await session.together([(endpoint, {**_with_usage(body), "echo": True}) for body in bodies])
    for body, exchange in zip(bodies, exchanges, strict=True):
        require_answer(exchange)
        for output in outputs(exchange):
            if not output.text.startswith(body["prompt"]):
                raise Failed(f"the prompt is {body['prompt']!r}, but the text {output.text[:120]!r}", *exchanges)


def _with_usage(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**body, "stream_options": {"include_usage": True}} if body.get("stream") else dict(body)


async def _require_one_id(session: Session, endpoint: str, body: Mapping[str, Any], exchange: Exchange) -> None:
    """Raises Failed for a stream with chunks of several answers. A server that gives each chunk an id of its own does
    so for a single stream, too, which the rule for the order of streams reports."""
    ids = _ids(exchange)
    if len(ids) > 1 and len(_ids(await session.answered(endpoint, _with_usage(body)))) == 1:
        raise Failed(
            f"the chunks of one stream have {len(ids)} different ids, those of a stream alone have one", exchange
        )


def _ids(exchange: Exchange) -> set[Any]:
    return {chunk.get("id") for chunk in exchange.chunks if "error" not in chunk}


def _require_same(exchange: Exchange, one: Any, other: Any, says: str) -> None:
    if one != other:
        raise Failed(says.format(one, other), exchange)


# The least seconds of a complete answer, so that the noise of a busy machine decides nothing.
TELLING = 0.4

# How many times longer than a small answer it must take.
OFTEN = 6

IGNORE_EOS = "/components/schemas/CreateChatCompletionRequest/properties/ignore_eos"


async def disconnected(
    session: Session, endpoint: str, *, to: str, body: Mapping[str, Any], small: Mapping[str, Any]
) -> None:
    """After a client has left a long answer, a small request need not wait for the rest of it: it waits less than half
    of the rest, by this server's own times."""
    long = unending(session, to, body)
    quick = await _usual(session, to, small)
    whole = (await session.answered(to, long)).seconds
    if whole < TELLING or whole < OFTEN * quick:
        raise NotExercised(
            f"the long answer takes {whole:.2f} s, a small one {quick:.2f} s: nobody could tell whether it goes on"
        )
    for _ in range(2):  # twice, since the machine may have been busy otherwise
        begun = time.monotonic()
        gone = await session.send(to, long, leave_at=whole / 5)
        if gone.ended != "left":
            raise NotExercised("the answers to one request take too different times")
        rest = whole - (time.monotonic() - begun)
        begun = time.monotonic()
        after = await session.answered(to, small)
        waited = time.monotonic() - begun - quick
        if waited < rest / 2:
            return
    raise Failed(
        f"a small request, which takes {quick:.2f} s, took {waited:.2f} s more after a client had left an answer of "
        f"which {rest:.2f} s were to come: the server goes on with it",
        gone,
        after,
    )


async def not_held_up(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """While a stream runs, the list of models is answered before the stream ends."""
    long = unending(session, to, {**body, "stream": True})
    for _ in range(2):
        running = asyncio.create_task(session.send(to, long))
        exchanges = [await session.send("models")]
        while not running.done() and len(exchanges) < 5:
            exchanges.append(await session.send("models"))
        stream = await running
        for exchange in (stream, *exchanges):
            require_answer(exchange)
        slowest = max(exchanges, key=lambda exchange: exchange.seconds)
        if stream.seconds < TELLING:
            raise NotExercised(f"a long stream takes {stream.seconds:.2f} s: too little to tell what waits for it")
        if slowest.seconds < stream.seconds / 2:
            return
    raise Failed(
        f"GET /models took {slowest.seconds:.2f} s beside a stream of {stream.seconds:.2f} s: it waits for the model",
        stream,
        slowest,
    )


def unending(session: Session, endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body with ignore_eos, so that the answer runs to its limit, if the dialect has the field."""
    ignores = session.dialect.level(IGNORE_EOS, "chat") == "full"
    return {**body, **({"ignore_eos": True} if ignores and LIMITS[endpoint][0] == "max_tokens" else {})}


async def _usual(session: Session, endpoint: str, body: Mapping[str, Any]) -> float:
    """Returns the seconds that a small request takes, the second time."""
    await session.answered(endpoint, body)
    return (await session.answered(endpoint, body)).seconds


# The least seconds of the tokens after the first.
TELLING_TOKENS = 0.15


async def flows(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """The chunks of a stream come as they are made: not all at the end, nor all after the first one. The time to make
    them is that of the complete answer without that of its first token."""
    long = unending(session, to, body)
    for _ in range(2):
        first = await session.answered(to, {**long, LIMITS[to][0]: 1})
        whole = await session.answered(to, long)
        made = whole.seconds - first.seconds
        stream = await session.send(to, {**long, "stream": True})
        require_answer(stream)
        if made < max(TELLING_TOKENS, first.seconds):
            raise NotExercised(f"the tokens after the first take {made:.2f} s: too little to tell when each was made")
        tokens = (whole.answer.get("usage") or {}).get("completion_tokens") or 0
        if len(stream.chunks) < max(8, tokens / 2):
            raise NotExercised(f"the stream shows {tokens} tokens in {len(stream.chunks)} chunks, so some are hidden")
        if _spread(stream) > made / 4:
            return
    raise Failed(
        f"the tokens take {made:.2f} s, but {len(stream.chunks)} chunks come within {_spread(stream):.2f} s: something "
        "holds them back",
        stream,
    )


def _spread(stream: Exchange) -> float:
    """Returns the seconds from the first chunk to the last without the longest pause."""
    pauses = [after - before for before, after in pairwise(stream.times)]
    return sum(pauses) - max(pauses, default=0.0)
