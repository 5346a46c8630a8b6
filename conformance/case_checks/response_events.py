"""Checks of the events of streamed responses."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session
from specvino.conformance.verdict import Failed, Unsuitable

ENDS = {"response.completed": "completed", "response.incomplete": "incomplete"}


async def first_event_created(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The first event is response.created; its response is in progress, without output and usage."""
    exchange = await _streamed(session, endpoint, body)
    first = exchange.chunks[0]
    if first.get("type") != "response.created":
        raise Failed(f"the first event is {first.get('type')!r}", exchange)
    response = _response(first, exchange)
    if response.get("status") not in ("in_progress", "queued"):
        raise Failed(f"the status of the created response is {response.get('status')!r}", exchange)
    if response.get("output"):
        raise Failed("the created response has output", exchange)
    if response.get("usage"):
        raise Failed("the created response has usage", exchange)


async def last_event_complete(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The last event has the complete response: the event's status, output and usage."""
    exchange = await _streamed(session, endpoint, body)
    last = exchange.chunks[-1]
    if last.get("type") not in ENDS:
        raise Failed(f"the last event is {last.get('type')!r}", exchange)
    response = _response(last, exchange)
    if response.get("status") != ENDS[last["type"]]:
        raise Failed(f"the response of {last['type']} has the status {response.get('status')!r}", exchange)
    for name in ("output", "usage"):
        if not response.get(name):
            raise Failed(f"the response of the last event has no {name}: {response.get(name)!r}", exchange)
    if response.get("id") != _response(exchange.chunks[0], exchange).get("id"):
        raise Failed("the id of the last event's response differs from that of the first", exchange)


async def function_call_events(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A streamed call begins with name and call_id and without arguments; these come in deltas and then complete."""
    exchange = await _streamed(session, endpoint, body)
    _require_calls(exchange, "function_call", "arguments", "response.function_call_arguments", least=1)


async def streamed_calls_apart(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Streamed calls have different output_index and call_id, and complete arguments."""
    exchange = await _streamed(session, endpoint, body)
    added = [chunk for chunk in exchange.chunks if chunk.get("type") == "response.output_item.added"]
    calls = [chunk for chunk in added if (chunk.get("item") or {}).get("type") == "function_call"]
    if len(calls) < 2:
        raise Unsuitable("the model makes fewer than two calls")
    for name, values in (
        ("output_index", [chunk.get("output_index") for chunk in added]),
        ("call_id", [chunk["item"].get("call_id") for chunk in calls]),
    ):
        if repeated := [value for value in values if values.count(value) > 1]:
            raise Failed(f"the {name} {repeated[0]!r} is that of several items", exchange)
    _require_calls(exchange, "function_call", "arguments", "response.function_call_arguments", least=1)


async def custom_tool_call_events(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A streamed call of a custom tool begins with name and call_id and without input, which comes in deltas and then
    complete. It may be empty, without a delta."""
    exchange = await _streamed(session, endpoint, body)
    _require_calls(exchange, "custom_tool_call", "input", "response.custom_tool_call_input", least=0)


def _require_calls(exchange: Exchange, kind: str, field: str, events: str, *, least: int) -> None:
    """Raises Failed unless calls of a kind are streamed in order. `least` is the smallest number of deltas of a
    call."""
    added = {
        chunk.get("output_index"): chunk.get("item") or {}
        for chunk in exchange.chunks
        if chunk.get("type") == "response.output_item.added"
    }
    calls = {index: item for index, item in added.items() if item.get("type") == kind}
    if not calls:
        if any(output.reason == "length" for output in outputs(exchange)):
            raise Unsuitable("the token limit was reached before a call")
        raise Failed(f"no {kind} item is added, though tool_choice requires a call", exchange)
    for index, item in calls.items():
        if not item.get("name") or not item.get("call_id"):
            raise Failed(f"the added {kind} has no name or call_id: {item}", exchange)
        if item.get(field):
            raise Failed(f"the added {kind} has {field}: {item[field]!r}", exchange)
        own = [chunk for chunk in exchange.chunks if chunk.get("output_index") == index]
        deltas: list[Any] = [event.get("delta") for event in own if event.get("type") == f"{events}.delta"]
        done = [event.get(field) for event in own if event.get("type") == f"{events}.done"]
        if len(deltas) < least or not all(isinstance(delta, str) for delta in deltas):
            raise Failed(f"the deltas of {field} aren't strings: {deltas!r}", exchange)
        if done != ["".join(deltas)]:
            raise Failed(f"the deltas join to {''.join(deltas)[:120]!r}, but the done event has {done!r}", exchange)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    exchange = await session.answered(endpoint, {**body, "stream": True})
    exchange.require_stream()
    if not exchange.chunks:
        raise Failed("the stream has no events", exchange)
    return exchange


def _response(chunk: Mapping[str, Any], exchange: Exchange) -> Mapping[str, Any]:
    response = chunk.get("response")
    if not isinstance(response, Mapping):
        raise Failed(f"{chunk.get('type')} has no response", exchange)
    return response
