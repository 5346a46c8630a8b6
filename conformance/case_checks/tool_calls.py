"""Checks of tool calls: complete, truncated and streamed."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specvino.conformance.endpoints import token_limits
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.rules.outputs import Output, outputs
from specvino.conformance.session.session import Session, with_room
from specvino.conformance.session.steps import expect
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable
from specvino.document.validator import Validator

# How often tools are called until no first call is truncated: a small model's drawn arguments may be long.
ATTEMPTS = 4


async def tools_called(
    session: Session,
    endpoint: str,
    *,
    body: Mapping[str, Any],
    name: str | None = None,
    most: int | None = None,
    choices: int = 1,
    without_text: bool = False,
) -> None:
    """Every choice calls a tool of the request (`name`, if set), at most `most` times, with valid arguments; with null
    content if `without_text`."""
    for attempt in range(1, ATTEMPTS + 1):
        exchange = await session.answered(endpoint, with_room(endpoint, body))
        all_outputs = list(outputs(exchange))
        if len(all_outputs) != choices:
            raise Failed(f"there are {len(all_outputs)} choices, not {choices}", exchange)
        try:
            all_calls = [whole_calls(output, exchange) for output in all_outputs]
            break
        except NotExercised:
            if attempt == ATTEMPTS:
                raise
    parameters = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in body["tools"] if tool}
    for output, calls in zip(all_outputs, all_calls, strict=True):
        for called_name, arguments in calls:
            if called_name not in ([name] if name else parameters):
                raise Failed(f"{called_name!r} is called, not {name or ' or '.join(parameters)}", exchange)
            _require_call(called_name, arguments, parameters[called_name], exchange)
        if most is not None and len(output.calls) > most:
            raise Failed(f"there are {len(output.calls)} tool calls, though at most {most} are allowed", exchange)
        if without_text and output.reason != "length" and output.choice["message"].get("content") is not None:
            raise Failed(
                f"content is {output.choice['message']['content']!r}, not null, in a message with tool calls", exchange
            )


def whole_calls(output: Output, exchange: Exchange) -> tuple[tuple[Any, Any], ...]:
    """Returns the calls that aren't truncated. Raises Failed if there is no call at all, NotExercised if the limit
    truncated the first one."""
    calls = output.calls[:-1] if output.reason == "length" else output.calls
    if calls:
        return calls
    if output.reason == "length":
        raise NotExercised("the first tool call was truncated by the token limit")
    raise Failed(f"no tool is called, though tool_choice requires a call; the text is {output.text[:120]!r}", exchange)


def _require_call(name: Any, arguments: Any, parameters: Mapping[str, Any], exchange: Exchange) -> None:
    value = _object(arguments)
    if value is None:
        raise Failed(f"the arguments of {name!r} aren't a JSON object: {str(arguments)[:120]!r}", exchange)
    for violation in Validator(parameters).violations(value):
        raise Failed(f"the arguments of {name!r} violate its schema: {violation}", exchange)


def _object(arguments: Any) -> dict[str, Any] | None:
    """Returns the arguments as an object, or None if they aren't one. MLC-LLM sends the object instead of a string; the
    rules for shapes report that."""
    try:
        value = arguments if isinstance(arguments, dict) else json.loads(arguments)
    except (TypeError, ValueError):
        return None
    return value if isinstance(value, dict) else None


async def truncated_tool_calls(
    session: Session, endpoint: str, *, body: Mapping[str, Any], limits: Sequence[int]
) -> None:
    """At any token limit, an answer without a complete call has finish_reason length, and any other answer has
    arguments that are JSON."""
    for limit in limits:
        exchange = await session.answered(endpoint, {**body, token_limits(endpoint)[0]: limit})
        for output in outputs(exchange):
            invalid = [arguments for _, arguments in output.calls if _object(arguments) is None]
            if output.reason != "length" and (invalid or not output.calls):
                actual = f"the arguments {invalid[0]!r}" if invalid else "no tool call"
                raise Failed(
                    f"a limit of {limit} tokens gives {actual}, but finish_reason is {output.reason!r}", exchange
                )


async def tool_call_ids_unique(session: Session, endpoint: str, *, body: Mapping[str, Any], times: int) -> None:
    """Every call has its own id: in one answer, in several, and in streams."""
    seen: set[Any] = set()
    for number in range(times):
        exchange = await session.answered(endpoint, with_room(endpoint, {**body, "stream": number % 2 == 1}))
        for id in _ids(exchange):
            if not isinstance(id, str) or not id:
                raise Failed(f"the id of a call is {id!r}", exchange)
            if id in seen:
                raise Failed(f"two calls have the id {id!r}", *session.exchanges)
            seen.add(id)
    if len(seen) < 2:
        raise NotExercised("there are fewer than two tool calls")


def _ids(exchange: Exchange) -> Iterator[Any]:
    for output in outputs(exchange):
        yield from (call.get("id") for call in output.choice["message"].get("tool_calls") or ())


async def tool_results_accepted(session: Session, endpoint: str, *, body: Mapping[str, Any], result: str) -> None:
    """The message with calls, and their results, are accepted in the history; then, with tool_choice none, no tool is
    called."""
    first = await session.answered(endpoint, with_room(endpoint, body))
    output = next(outputs(first), None)
    if output is None or not whole_calls(output, first) or output.reason == "length":
        raise NotExercised("there is no complete message with tool calls")
    message = output.choice["message"]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": result} for call in message["tool_calls"]]
    history = [*body["messages"], message, *results]
    second = await session.answered(endpoint, {**body, "messages": history, "tool_choice": "none"})
    if any(output.calls for output in outputs(second)):
        raise Failed("a tool is called, though tool_choice is none", second)


async def result_without_call(session: Session, endpoint: str, *, body: Mapping[str, Any], field: str) -> None:
    """A tool result whose call isn't in the conversation is refused, or the server reports that the field with the
    call's id has no effect."""
    exchange = await session.send(endpoint, body)
    if exchange.ok and field not in exchange.without_effect:
        raise Failed("a tool result without its call is accepted", exchange)
    if not exchange.ok:
        expect(exchange, {"refused": "validation"}, session.dialect, endpoint)


async def tool_call_deltas(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The first delta of a call has its id, type and name; later ones only have more of its arguments."""
    exchange = await _streamed(session, endpoint, body)
    begun: set[tuple[Any, Any]] = set()
    for index, call in _calls(exchange):
        key = (index, call.get("index"))
        function = call.get("function") or {}
        if not isinstance(function.get("arguments", ""), str):
            raise Failed(f"the arguments of a delta are {function['arguments']!r}, not a string", exchange)
        if key not in begun:
            begun.add(key)
            for field, value in (("id", call.get("id")), ("function.name", function.get("name"))):
                if not isinstance(value, str) or not value:
                    raise Failed(f"the first delta of call {key[1]} has the {field} {value!r}", exchange)
            if call.get("type") != "function":
                raise Failed(f"the first delta of call {key[1]} has the type {call.get('type')!r}", exchange)
        else:
            for field, value in (("id", call.get("id")), ("function.name", function.get("name"))):
                if value is not None:
                    raise Failed(f"a later delta of call {key[1]} repeats the {field}: {value!r}", exchange)


async def tool_call_indexes(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The calls of a choice have consecutive indexes from 0, in the order in which they begin."""
    exchange = await _streamed(session, endpoint, body)
    begun: dict[Any, list[Any]] = defaultdict(list)
    for choice, call in _calls(exchange):
        index = call.get("index")
        if index not in begun[choice]:
            if index != len(begun[choice]) or type(index) is not int:
                raise Failed(f"call number {len(begun[choice])} has the index {index!r}", exchange)
            begun[choice].append(index)


async def tool_calls_apart(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Several calls of a stream have different indexes. Raises Unsuitable if there is one call only."""
    exchange = await _streamed(session, endpoint, body)
    begun: dict[tuple[Any, Any], dict[str, None]] = defaultdict(dict)
    for choice, call in _calls(exchange):
        if call.get("id") and (call.get("function") or {}).get("name"):
            begun[choice, call.get("index")][call["id"]] = None
    if sum(map(len, begun.values())) < 2:
        raise Unsuitable("the model makes fewer than two calls")
    for (_, index), ids in begun.items():
        if len(ids) > 1:
            raise Failed(f"the index {index!r} is that of several calls: {', '.join(ids)}", exchange)


async def no_empty_content_deltas(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """No delta without a role has empty content: some clients end the turn there."""
    exchange = await _streamed(session, endpoint, body)
    for _, delta in _deltas(exchange):
        if delta.get("content") == "" and "role" not in delta:
            raise Failed("a delta in a stream with tool calls has empty content", exchange)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    """Returns the exchange of a stream with tool calls. Raises NotExercised without one."""
    exchange = await session.answered(endpoint, with_room(endpoint, {**body, "stream": True}))
    if next(_calls(exchange), None) is None:
        raise Unsuitable("the stream has no tool calls")
    return exchange


def _calls(exchange: Exchange) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yields the deltas of calls with the indexes of their choices. Raises Unreadable."""
    for choice, delta in _deltas(exchange):
        for call in delta.get("tool_calls") or ():
            if not isinstance(call, dict):
                raise Unreadable(f"a tool call of a delta is {call!r}", exchange)
            yield choice, call


def _deltas(exchange: Exchange) -> Iterator[tuple[Any, dict[str, Any]]]:
    for chunk in exchange.chunks:
        for choice in chunk.get("choices") or ():
            yield choice.get("index"), choice.get("delta") or {}
