"""Checks of stop strings and token limits, by comparison with the unrestricted answer."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from specvino.conformance.endpoints import token_limits
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.endings import shows_stop, too_many
from specvino.conformance.rules.outputs import Output, outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised

ABSENT = "@@never@@"


async def stop_truncates(
    session: Session,
    endpoint: str,
    *,
    body: Mapping[str, Any],
    among: bool = False,
    stream: bool = False,
    length: int = 3,
    include: bool = False,
) -> None:
    """A stop string from the middle of an answer truncates the same answer before it. `length` is its length in
    characters. With `among` it is one of several, of which the first to occur applies. With `include` the text ends
    with it."""

    async def compare(full: Exchange) -> Difference:
        text = _first_text(full).text
        stop = _stop_string(text, length)
        start = text.index(stop)
        later = text[start + length :][:length]
        stops = [ABSENT, *([later] if later and later not in text[:start] else []), stop]
        more: dict[str, Any] = {"stop": stops if among else stop, **({"stream": True} if stream else {})}
        truncated = await session.answered(
            endpoint, {**body, **more, **({"include_stop_str_in_output": True} if include else {})}
        )
        output, expected = next(outputs(truncated)), text[: start + (length if include else 0)]
        if not include and stop in output.text:
            return shows_stop(stop, output.text), truncated
        if output.text != expected:
            return f"the text is {text!r}, but with the stop string {stop!r} it is {output.text!r}", truncated
        if output.reason != "stop":
            return f"a stop string ended the answer, but finish_reason is {output.reason!r}", truncated
        return None

    await _require_no_difference(session, endpoint, body, compare)


async def unmatched_stop_ignored(
    session: Session, endpoint: str, *, body: Mapping[str, Any], half: bool = False, stream: bool = False
) -> None:
    """A stop string that doesn't occur has no effect. With `half`, the answer ends with the beginning of the stop
    string: text that the server held back must be sent at the end."""

    async def compare(full: Exchange) -> Difference:
        output = _first_text(full)
        stop = output.text[-3:] + ABSENT if half else ABSENT
        stopped = await session.answered(endpoint, {**body, "stop": stop, **({"stream": True} if stream else {})})
        with_stop = next(outputs(stopped))
        if (with_stop.text, with_stop.reason) == (output.text, output.reason):
            return None
        return (
            f"the stop string {stop!r} doesn't occur in {output.text!r}, but changes it to {with_stop.text!r}",
            stopped,
        )

    await _require_no_difference(session, endpoint, body, compare)


async def fields_without_effect(
    session: Session, endpoint: str, *, body: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    """The fields of `other` don't change the answer."""

    async def compare(full: Exchange) -> Difference:
        added = await session.answered(endpoint, {**body, **other})
        if _answers(added) == _answers(full):
            return None
        return f"{dict(other)} changes the answer from {_answers(full)} to {_answers(added)}", added

    await _require_no_difference(session, endpoint, body, compare)


async def one_token_limit(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """With a limit of one token, the answer has one choice of one token."""
    exchange = await session.answered(endpoint, {**body, token_limits(endpoint)[0]: 1})
    if (tokens := counted(exchange, "completion_tokens")) > 1:
        raise Failed(too_many(exchange, tokens), exchange)
    if tokens != 1 or len(list(outputs(exchange))) != 1:
        raise Failed(
            f"there are {len(list(outputs(exchange)))} choices with {tokens} tokens, not one with one", exchange
        )


async def limit_truncates(
    session: Session, endpoint: str, *, body: Mapping[str, Any], limit: Mapping[str, int]
) -> None:
    """A lower limit truncates the same answer: the limit is used up, and finish_reason is length."""
    allowed = min(limit.values())
    rest = {name: value for name, value in body.items() if name not in token_limits(endpoint)}

    async def compare(full: Exchange) -> Difference:
        if (tokens := counted(full, "completion_tokens")) <= allowed + 1:
            raise NotExercised(f"the answer has only {tokens} tokens, too few for a limit of {allowed}")
        truncated = await session.answered(endpoint, {**rest, **limit})
        short, long = next(outputs(truncated)), next(outputs(full))
        if (kept := counted(truncated, "completion_tokens")) > allowed:
            return too_many(truncated, kept), truncated
        if kept != allowed or short.reason != "length":
            actual = f"{kept} tokens, and finish_reason is {short.reason!r}"
            return f"with {dict(limit)}, an answer of {tokens} tokens has {actual}", truncated
        if not _full_text(long).startswith(_full_text(short).rstrip("\ufffd")):
            return f"the text is {_full_text(long)!r}, but with {dict(limit)} it is {_full_text(short)!r}", truncated
        return None

    await _require_no_difference(session, endpoint, body, compare)


# The finding, and the exchange that shows it; None without a difference.
Difference = tuple[str, Exchange] | None


async def _require_no_difference(
    session: Session, endpoint: str, body: Mapping[str, Any], compare: Callable[[Exchange], Awaitable[Difference]]
) -> None:
    """Compares the answer to `body` with another one. A difference is a failure only if the request's answer is
    reproducible: the first one may differ without a cached prompt."""
    full = await session.answered(endpoint, body)
    for _ in range(2):
        difference = await compare(full)
        if difference is None:
            return
        again = await session.answered(endpoint, body)
        if _answers(again) == _answers(full):
            raise Failed(difference[0], full, difference[1])
        full = again
    raise NotExercised("the server's answers to the same request differ, so they can't be compared")


def _stop_string(text: str, length: int) -> str:
    """Returns a substring from the middle whose first occurrence is there. Raises NotExercised without one."""
    for start in range(len(text) // 3, len(text) - length + 1):
        stop = text[start : start + length]
        if stop.strip() == stop and text.index(stop) == start and "\ufffd" not in text[: start + length]:
            return stop
    raise NotExercised(f"no part of {text!r} is suitable as a stop string")


def _first_text(exchange: Exchange) -> Output:
    """Returns the first choice. Raises NotExercised without text, or with reasoning, which may contain a stop
    string."""
    output = next(outputs(exchange), None)
    if output is None or output.reasoning or not output.text:
        raise NotExercised("the answer has reasoning, or no text")
    return output


def _answers(exchange: Exchange) -> list[tuple[str, Any]]:
    return [(_full_text(output), output.reason) for output in outputs(exchange)]


def _full_text(output: Output) -> str:
    return output.reasoning + output.text
