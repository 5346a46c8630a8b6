"""The events of a response: what they say, beside their order, which is a rule for all streams."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.session import Session
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.verdict import Failed, NotExercised

ENDS = {"response.completed": "completed", "response.incomplete": "incomplete"}


async def begins_empty(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The first event is response.created, with a response that is under way and has neither output nor usage."""
    exchange = await _streamed(session, endpoint, body)
    first = exchange.chunks[0]
    if first.get("type") != "response.created":
        raise Failed(f"the first event is {first.get('type')!r}", exchange)
    response = _response(first, exchange)
    if response.get("status") not in ("in_progress", "queued"):
        raise Failed(f"the response is created with the status {response.get('status')!r}", exchange)
    if response.get("output"):
        raise Failed("the response has output when it is created", exchange)
    if response.get("usage"):
        raise Failed("the response has usage when it is created", exchange)


async def ends_whole(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The last event has the whole response: its status is the event's, with output and usage."""
    exchange = await _streamed(session, endpoint, body)
    last = exchange.chunks[-1]
    if last.get("type") not in ENDS:
        raise Failed(f"the last event is {last.get('type')!r}", exchange)
    response = _response(last, exchange)
    if response.get("status") != ENDS[last["type"]]:
        raise Failed(f"{last['type']} has a response whose status is {response.get('status')!r}", exchange)
    for name in ("output", "usage"):
        if not response.get(name):
            raise Failed(f"{name} of the last event's response is {response.get(name)!r}", exchange)
    if response.get("id") != _response(exchange.chunks[0], exchange).get("id"):
        raise Failed("the response ends under another id than it was created with", exchange)


async def call_events(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A streamed call begins with its name and call_id and without arguments, which come in deltas and whole."""
    exchange = await _streamed(session, endpoint, body)
    added = {
        chunk.get("output_index"): chunk.get("item") or {}
        for chunk in exchange.chunks
        if chunk.get("type") == "response.output_item.added"
    }
    calls = {index: item for index, item in added.items() if item.get("type") == "function_call"}
    if not calls:
        if any(output.reason == "length" for output in outputs(exchange)):
            raise NotExercised("the model had no tokens left for a call")
        raise Failed("no function_call is added, though a call was forced", exchange)
    for index, item in calls.items():
        if not item.get("name") or not item.get("call_id"):
            raise Failed(f"a call begins as {item}", exchange)
        if item.get("arguments"):
            raise Failed(f"a call begins with arguments: {item['arguments']!r}", exchange)
        own = [chunk for chunk in exchange.chunks if chunk.get("output_index") == index]
        deltas: list[Any] = [
            each.get("delta") for each in own if each.get("type") == "response.function_call_arguments.delta"
        ]
        done = [each.get("arguments") for each in own if each.get("type") == "response.function_call_arguments.done"]
        if not deltas or not all(isinstance(each, str) for each in deltas):
            raise Failed(f"the deltas of a call's arguments are {deltas!r}", exchange)
        if done != ["".join(deltas)]:
            raise Failed(f"the deltas join to {''.join(deltas)[:120]!r}, and done says {done!r}", exchange)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    exchange = await session.answered(endpoint, {**body, "stream": True})
    exchange.require_stream()
    if not exchange.chunks:
        raise Failed("the stream holds no event", exchange)
    return exchange


def _response(chunk: Mapping[str, Any], exchange: Exchange) -> Mapping[str, Any]:
    response = chunk.get("response")
    if not isinstance(response, Mapping):
        raise Failed(f"{chunk.get('type')} has no response", exchange)
    return response
