"""Checks of Ollama's own API: streams and their last line, arguments of calls, and tokens of prompts."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable


async def streams_unless_declined(
    session: Session, endpoint: str, *, body: Mapping[str, Any], asking: Sequence[Mapping[str, Any]]
) -> None:
    """The answer is a stream with each of the fields `asking`, and one JSON object where `stream` is false."""
    for fields in asking:
        exchange = await session.answered(endpoint, {**body, **fields})
        exchange.require_stream()
    exchange = await session.answered(endpoint, {**body, "stream": False})
    if exchange.is_stream or exchange.media != "application/json":
        raise Failed(f"the media type is {exchange.media!r}, not application/json", exchange)


async def done_in_last_line(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """`done` is false in each line of a stream but the last, which says why the answer ended."""
    exchange = await session.answered(endpoint, {**body, "stream": True})
    exchange.require_stream()
    done = [chunk.get("done") for chunk in exchange.chunks]
    if done != [False] * (len(done) - 1) + [True]:
        raise Failed(f"done must be true in the last of {len(done)} lines only, but is {done}", exchange)
    if exchange.chunks[-1].get("done_reason") not in ("stop", "length"):
        raise Failed(f"done_reason of the last line is {exchange.chunks[-1].get('done_reason')!r}", exchange)


async def call_as_object(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A call's arguments are an object, in one line of a stream too. Raises Unsuitable without a call."""
    for stream in (False, True):
        exchange = await session.answered(endpoint, {**body, "stream": stream})
        calls = [call for output in outputs(exchange) for call in output.calls]
        if not calls:
            raise Unsuitable("the model calls no tool")
        for name, arguments in calls:
            if not isinstance(arguments, Mapping):
                raise Failed(f"the arguments of {name!r} aren't an object: {str(arguments)[:120]!r}", exchange)


async def evaluated_tokens_increase(
    session: Session, endpoint: str, *, than: Mapping[str, Any], bodies: Sequence[Mapping[str, Any]], by: int
) -> None:
    """The prompt of each of the bodies has at least `by` more tokens than that of `than`."""
    short = await session.answered(endpoint, than)
    for body in bodies:
        long = await session.answered(endpoint, body)
        less, more = _prompt_tokens(short), _prompt_tokens(long)
        if more - less < by:
            counts = f"{less} for the shorter prompt and {more} for the longer one, expected {by} more"
            raise Failed(f"prompt_eval_count is {counts}", short, long)


def _prompt_tokens(exchange: Exchange) -> int:
    count = exchange.answer.get("prompt_eval_count")
    if type(count) is not int:
        raise NotExercised("the answer has no prompt_eval_count")
    return count
