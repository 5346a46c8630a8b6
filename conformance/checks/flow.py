"""How a stream flows: piece by piece, or all at once."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from specvino.conformance.cases.session import LIMITS, Session, require_answer
from specvino.conformance.checks.disconnects import unending
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised

# Seconds that the tokens after the first have to take at least.
TELLING = 0.15


async def flows(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """The pieces of a stream come while they are made: not all at the end, nor all after the first one. How long the
    server takes to make them is what the whole answer takes longer than its first token."""
    long = unending(session, to, body)
    for _ in range(2):
        first = await session.answered(to, {**long, LIMITS[to][0]: 1})
        whole = await session.answered(to, long)
        made = whole.seconds - first.seconds
        stream = await session.send(to, {**long, "stream": True})
        require_answer(stream)
        if made < max(TELLING, first.seconds):
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
    """Returns the seconds from the first piece to the last without the longest pause."""
    pauses = [after - before for before, after in pairwise(stream.times)]
    return sum(pauses) - max(pauses, default=0.0)
