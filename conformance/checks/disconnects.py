"""Clients that go away."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.session import LIMITS, Session, require_answer
from specvino.conformance.verdict import Failed, NotExercised

# Seconds that a whole answer has to take at least, so that the noise of a busy machine decides nothing.
TELLING = 0.4

# How many times longer than a small answer it has to take.
OFTEN = 6

IGNORE_EOS = "/components/schemas/CreateChatCompletionRequest/properties/ignore_eos"


async def disconnected(
    session: Session, endpoint: str, *, to: str, body: Mapping[str, Any], small: Mapping[str, Any]
) -> None:
    """After a client has left a long answer, a small request need not wait for the rest of it. Times are those of this
    server: the small request waits less than half of the rest."""
    long = unending(session, to, body)
    quick = await _usual(session, to, small)
    whole = (await session.answered(to, long)).seconds
    if whole < TELLING or whole < OFTEN * quick:
        raise NotExercised(
            f"the long answer takes {whole:.2f} s, a small one {quick:.2f} s: nobody could tell whether it goes on"
        )
    for _ in range(2):  # twice, since something else may have kept the machine busy
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
        asked = [await session.send("models")]
        while not running.done() and len(asked) < 5:
            asked.append(await session.send("models"))
        stream = await running
        for exchange in (stream, *asked):
            require_answer(exchange)
        slowest = max(asked, key=lambda each: each.seconds)
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
    """Makes the body ask for an answer that runs to its limit, as far as the dialect has a way to ask for that."""
    ignores = session.dialect.name != "openai" and session.dialect.level(IGNORE_EOS, "chat") == "full"
    return {**body, **({"ignore_eos": True} if ignores and LIMITS[endpoint][0] == "max_tokens" else {})}


async def _usual(session: Session, endpoint: str, body: Mapping[str, Any]) -> float:
    """Returns the seconds that a small request takes, the second time."""
    await session.answered(endpoint, body)
    return (await session.answered(endpoint, body)).seconds
