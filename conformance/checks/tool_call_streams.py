"""Streamed tool calls, delta by delta."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.conformance.cases.session import Session
from specvino.conformance.checks.token_budget import with_room
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.verdict import Failed, NotExercised


async def call_deltas(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A call's first delta has its id, type and name; the later ones have only more of its arguments."""
    exchange = await _streamed(session, endpoint, body)
    begun: set[tuple[Any, Any]] = set()
    for index, call in _calls(exchange):
        key = (index, call.get("index"))
        function = call.get("function") or {}
        if not isinstance(function.get("arguments", ""), str):
            raise Failed(f"a delta's arguments are {function['arguments']!r}, no text", exchange)
        if key not in begun:
            begun.add(key)
            for what, value in (("id", call.get("id")), ("function.name", function.get("name"))):
                if not isinstance(value, str) or not value:
                    raise Failed(f"the first delta of call {key[1]} has {what} {value!r}", exchange)
            if call.get("type") != "function":
                raise Failed(f"the first delta of call {key[1]} has type {call.get('type')!r}", exchange)
        else:
            for what, value in (("id", call.get("id")), ("function.name", function.get("name"))):
                if value is not None:
                    raise Failed(f"a later delta of call {key[1]} has {what} {value!r} again", exchange)


async def call_indexes(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The calls of a choice are counted from 0 without a gap, in the order in which they begin."""
    exchange = await _streamed(session, endpoint, body)
    begun: dict[Any, list[Any]] = defaultdict(list)
    for choice, call in _calls(exchange):
        index = call.get("index")
        if index not in begun[choice]:
            if index != len(begun[choice]) or type(index) is not int:
                raise Failed(f"call number {len(begun[choice])} has the index {index!r}", exchange)
            begun[choice].append(index)


async def no_empty_text(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """No delta without a role has an empty text: clients take it for the turn's text, and close the turn."""
    exchange = await _streamed(session, endpoint, body)
    for _, delta in _deltas(exchange):
        if delta.get("content") == "" and "role" not in delta:
            raise Failed("a delta beside the calls has an empty content", exchange)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    """Returns the exchange of a stream with calls in it. Raises NotExercised for one without."""
    exchange = await session.answered(endpoint, with_room(endpoint, {**body, "stream": True}))
    if next(_calls(exchange), None) is None:
        raise NotExercised("the stream has no call whose deltas could be judged")
    return exchange


def _calls(exchange: Exchange) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yields the deltas with the indexes of their choices. Raises Unreadable."""
    for choice, delta in _deltas(exchange):
        for call in delta.get("tool_calls") or ():
            if not isinstance(call, dict):
                raise Unreadable(f"a delta's call is {call!r}")
            yield choice, call


def _deltas(exchange: Exchange) -> Iterator[tuple[Any, dict[str, Any]]]:
    for chunk in exchange.chunks:
        for choice in chunk.get("choices") or ():
            yield choice.get("index"), choice.get("delta") or {}
