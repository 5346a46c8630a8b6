"""Stop strings and limits, compared with the same answer without them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from specvino.conformance.endpoints import LIMITS
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.endings import shows_stop, too_many
from specvino.conformance.rules.outputs import Output, outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised

ABSENT = "@@never@@"


async def stop_cuts(
    session: Session,
    endpoint: str,
    *,
    body: Mapping[str, Any],
    among: bool = False,
    stream: bool = False,
    length: int = 3,
    include: bool = False,
) -> None:
    """A stop string of `length` characters from the middle of an answer ends the same answer before it. With `among` it
    is one of several, of which the earliest in the text counts. With `include` the answer has it at its end."""

    async def compare(whole: Exchange) -> Difference:
        text = _said(whole).text
        stop = _stop(text, length)
        start = text.index(stop)
        later = text[start + length :][:length]
        stops = [ABSENT, *([later] if later and later not in text[:start] else []), stop]
        more: dict[str, Any] = {"stop": stops if among else stop, **({"stream": True} if stream else {})}
        cut = await session.answered(
            endpoint, {**body, **more, **({"include_stop_str_in_output": True} if include else {})}
        )
        output, expected = next(outputs(cut)), text[: start + (length if include else 0)]
        if not include and stop in output.text:
            return shows_stop(stop, output.text), cut
        if output.text != expected:
            return f"the answer is {text!r}; with the stop text {stop!r} it is {output.text!r}", cut
        if output.reason != "stop":
            return f"a stop text ended the answer, but finish_reason is {output.reason!r}", cut
        return None

    await _compared(session, endpoint, body, compare)


async def stop_unmet(
    session: Session, endpoint: str, *, body: Mapping[str, Any], half: bool = False, stream: bool = False
) -> None:
    """A stop string that doesn't come changes nothing; nor does one of which `half` comes at the answer's end: text
    that was held back because of it is sent at the end."""

    async def compare(whole: Exchange) -> Difference:
        output = _said(whole)
        stop = output.text[-3:] + ABSENT if half else ABSENT
        other = await session.answered(endpoint, {**body, "stop": stop, **({"stream": True} if stream else {})})
        found = next(outputs(other))
        if (found.text, found.reason) == (output.text, output.reason):
            return None
        return f"the stop text {stop!r} never comes, but makes {found.text!r} of {output.text!r}", other

    await _compared(session, endpoint, body, compare)


async def alike(session: Session, endpoint: str, *, body: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """The fields of `other` don't change the answer."""

    async def compare(whole: Exchange) -> Difference:
        added = await session.answered(endpoint, {**body, **other})
        if _answers(added) == _answers(whole):
            return None
        return f"{dict(other)} makes {_answers(added)} of {_answers(whole)}", added

    await _compared(session, endpoint, body, compare)


async def one_token(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """An answer of one token has one choice."""
    exchange = await session.answered(endpoint, {**body, LIMITS[endpoint][0]: 1})
    if (made := counted(exchange, "completion_tokens")) > 1:
        raise Failed(too_many(exchange, made), exchange)
    if made != 1 or len(list(outputs(exchange))) != 1:
        raise Failed(f"{len(list(outputs(exchange)))} choices have {made} tokens, not one", exchange)


async def limit_cuts(session: Session, endpoint: str, *, body: Mapping[str, Any], limit: Mapping[str, int]) -> None:
    """A lower limit gives the beginning of the same answer, with all allowed tokens and finish_reason length."""
    allowed = min(limit.values())
    rest = {name: value for name, value in body.items() if name not in LIMITS[endpoint]}

    async def compare(whole: Exchange) -> Difference:
        if (made := counted(whole, "completion_tokens")) <= allowed + 1:
            raise NotExercised(f"the answer has {made} tokens, so that {allowed} are no limit")
        cut = await session.answered(endpoint, {**rest, **limit})
        short, long = next(outputs(cut)), next(outputs(whole))
        if (kept := counted(cut, "completion_tokens")) > allowed:
            return too_many(cut, kept), cut
        if kept != allowed or short.reason != "length":
            came = f"{kept} tokens, and finish_reason is {short.reason!r}"
            return f"{dict(limit)} allows {allowed} of an answer of {made} tokens: it has {came}", cut
        if not _all(long).startswith(_all(short).rstrip("\ufffd")):
            return f"the answer is {_all(long)!r}, but with {dict(limit)} it begins {_all(short)!r}", cut
        return None

    await _compared(session, endpoint, body, compare)


# The fault, and the answer that shows it.
Difference = tuple[str, Exchange] | None


async def _compared(
    session: Session, endpoint: str, body: Mapping[str, Any], compare: Callable[[Exchange], Awaitable[Difference]]
) -> None:
    """Compares the answer to `body` with another. Where they differ, the same request must give the same answer again:
    the first one may differ because none of its prompt was cached."""
    whole = await session.answered(endpoint, body)
    for _ in range(2):
        difference = await compare(whole)
        if difference is None:
            return
        again = await session.answered(endpoint, body)
        if _answers(again) == _answers(whole):
            raise Failed(difference[0], whole, difference[1])
        whole = again
    raise NotExercised("the server answers the same request differently each time, so that nothing can be compared")


def _stop(text: str, length: int) -> str:
    """Returns a piece of the middle that comes there for the first time. Raises NotExercised without one."""
    for start in range(len(text) // 3, len(text) - length + 1):
        stop = text[start : start + length]
        if stop.strip() == stop and text.index(stop) == start and "\ufffd" not in text[: start + length]:
            return stop
    raise NotExercised(f"nothing in {text!r} would do as a stop text")


def _said(exchange: Exchange) -> Output:
    """Returns the text of the first choice. Raises NotExercised without a text, or with reasoning, in which a stop
    string may occur."""
    output = next(outputs(exchange), None)
    if output is None or output.reasoning or not output.text:
        raise NotExercised("the model thinks first, or says nothing")
    return output


def _answers(exchange: Exchange) -> list[tuple[str, Any]]:
    return [(_all(output), output.reason) for output in outputs(exchange)]


def _all(output: Output) -> str:
    return output.reasoning + output.text
