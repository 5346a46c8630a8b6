"""Checks of stop strings and token limits, by comparison with the unrestricted answer."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from specvino.conformance.endpoints import token_limits, with_value
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.endings import shows_stop, too_many
from specvino.conformance.rules.outputs import Output, outputs, texts
from specvino.conformance.session.session import Session, require_answer
from specvino.conformance.session.steadiness import Ask, require_alike
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, Unsuitable

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
    at: str = "stop",
) -> None:
    """A stop string from the middle of an answer truncates the same answer before it. `length` is its length in
    characters, and `at` the field's dotted path. With `among` it is one of several, of which the first to occur
    applies. With `include` the text ends with it."""

    full = await session.answered(endpoint, body)
    text = _first_text(full).text
    stop = _stop_string(text, length)
    later = text[text.index(stop) + length :][:length]
    stops = [ABSENT, *([later] if later and later not in text[: text.index(stop)] else []), stop]
    fields = {"stream": True} if stream else {}
    fields |= {"include_stop_str_in_output": True} if include else {}
    stopped = with_value({**body, **fields}, at, stops if among else stop)

    async def truncated() -> Exchange:
        exchange = await session.answered(endpoint, stopped)
        if not include and stop in (shown := next(outputs(exchange)).text):
            raise Failed(shows_stop(stop, shown), exchange)
        return exchange

    def differences(whole: Exchange, cut: Exchange) -> dict[str, str]:
        complete, output = _first_text(whole).text, next(outputs(cut))
        kept = complete.find(stop) + (length if include else 0)
        if stop not in complete or output.text != complete[:kept]:
            return {"text": f"the text is {complete!r}, but with the stop string {stop!r} it is {output.text!r}"}
        if output.reason != "stop":
            return {"reason": f"a stop string ended the answer, but finish_reason is {output.reason!r}"}
        return {}

    await require_alike(_again(session, endpoint, body), truncated, differences, within=_changes, first=full)


async def unmatched_stop_ignored(
    session: Session, endpoint: str, *, body: Mapping[str, Any], half: bool = False, stream: bool = False
) -> None:
    """A stop string that doesn't occur has no effect. With `half`, the answer ends with the beginning of the stop
    string: text that the server held back must be sent at the end."""

    full = await session.answered(endpoint, body)
    end = _first_text(full).text[-3:] if half else ""
    stop = end + ABSENT
    stopped = _again(session, endpoint, {**body, "stop": stop, **({"stream": True} if stream else {})})

    def differences(whole: Exchange, with_stop: Exchange) -> dict[str, str]:
        one, other = _first_text(whole), next(outputs(with_stop))
        sentences = {
            "text": f"changes it to {other.text!r}",
            "reason": f"changes finish_reason from {one.reason!r} to {other.reason!r}",
        }
        changed = {*_changes(whole, with_stop, _contents if stream else texts)}
        changed |= set() if one.text.endswith(end) else {"text"}
        start = f"the stop string {stop!r} doesn't occur in {one.text!r}, but "
        return {name: start + sentence for name, sentence in sentences.items() if name in changed}

    await require_alike(_again(session, endpoint, body), stopped, differences, within=_changes, first=full)


async def fields_without_effect(
    session: Session, endpoint: str, *, body: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    """The fields of `other` don't change the answer."""

    def differences(one: Exchange, another: Exchange) -> dict[str, str]:
        sentence = f"{dict(other)} changes the answer from {_shown(one)} to {_shown(another)}"
        return dict.fromkeys(_changes(one, another), sentence)

    added = _again(session, endpoint, {**body, **other})
    await require_alike(_again(session, endpoint, body), added, differences)


async def limit_optional(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A request without a token limit is answered. The client leaves with the first bytes: a model may say a lot."""
    exchange = await session.send(endpoint, {**body, "stream": True}, capped=False, leave_after=1)
    if exchange.status != 200 or exchange.ended != "left":
        require_answer(exchange)
    for first in exchange.objects[:1]:
        if first.get("error") or first.get("type") == "error":
            raise Failed(f"a request without a limit is refused in its stream: {str(first)[:200]}", exchange)


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

    full = await session.answered(endpoint, body)
    if (tokens := counted(full, "completion_tokens")) <= allowed + 1:
        raise Unsuitable(f"the answer has only {tokens} tokens, too few for a limit of {allowed}")

    async def truncated() -> Exchange:
        exchange = await session.answered(endpoint, {**rest, **limit})
        if (kept := counted(exchange, "completion_tokens")) > allowed:
            raise Failed(too_many(exchange, kept), exchange)
        return exchange

    def differences(whole: Exchange, cut: Exchange) -> dict[str, str]:
        kept, reason = counted(cut, "completion_tokens"), _reasons(cut)[0]
        if kept != allowed or reason != "length":
            actual = f"{kept} tokens, and finish_reason is {reason!r}"
            return {"reason": f"with {dict(limit)}, an answer of {tokens} tokens has {actual}"}
        text, begun = texts(whole)[0], texts(cut)[0]
        if not text.startswith(begun.rstrip("\ufffd")):
            return {"text": f"the text is {text!r}, but with {dict(limit)} it is {begun!r}"}
        return {}

    await require_alike(_again(session, endpoint, body), truncated, differences, within=_changes, first=full)


def _again(session: Session, endpoint: str, body: Mapping[str, Any]) -> Ask:
    return partial(session.answered, endpoint, body)


def _changes(one: Exchange, other: Exchange, texts_of: Callable[[Exchange], list[str]] = texts) -> dict[str, str]:
    """Returns what differs in two answers: their texts, how they end, or both."""
    names = {"text": texts_of, "reason": _reasons}
    return {name: "" for name, part in names.items() if part(one) != part(other)}


def _contents(exchange: Exchange) -> list[str]:
    """Returns the texts without their reasoning, which a server may show in streams only."""
    return [output.text for output in outputs(exchange)]


def _reasons(exchange: Exchange) -> list[Any]:
    return [output.reason for output in outputs(exchange)]


def _stop_string(text: str, length: int) -> str:
    """Returns a substring from the middle whose first occurrence is there. Raises Unsuitable without one."""
    for start in range(len(text) // 3, len(text) - length + 1):
        stop = text[start : start + length]
        if stop.strip() == stop and text.index(stop) == start and "\ufffd" not in text[: start + length]:
            return stop
    raise Unsuitable(f"no part of {text!r} is suitable as a stop string")


def _first_text(exchange: Exchange) -> Output:
    """Returns the first choice. Raises Unsuitable without text, or with reasoning, which may contain a stop
    string."""
    output = next(outputs(exchange), None)
    if output is None or output.reasoning or not output.text:
        raise Unsuitable("the answer has reasoning, or no text")
    return output


def _shown(exchange: Exchange) -> list[tuple[str, Any]]:
    return list(zip(texts(exchange), _reasons(exchange), strict=True))
