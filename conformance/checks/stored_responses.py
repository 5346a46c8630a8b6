"""Stored responses: read, continued, listed, deleted, and made in the background."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import Session, require_answer
from specvino.conformance.session.steps import NOT_FOUND, counted, shown
from specvino.conformance.session.stored_responses import (
    LONG_INPUT,
    UNDER_WAY,
    cancel,
    delete,
    id_of,
    input_items,
    items_of,
    made,
    read,
    read_events,
)
from specvino.conformance.verdict import Failed, NotExercised

# What a stored response says as it was answered.
KEPT = ("id", "object", "created_at", "status", "model", "output", "usage", "metadata", "instructions", "error")

# Seconds for a response in the background.
LONGEST = 30.0

PAUSE = 0.1


async def reads_back(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A stored response equals the one answered, or the one in the last event of its stream."""
    first = await made(session, body)
    again = await read(session, id_of(first))
    require_answer(again)
    _same(first, again)


async def gone(session: Session, endpoint: str, *, body: Mapping[str, Any], deleted: bool = False) -> None:
    """A response that isn't stored, or was `deleted`, can't be read, deleted or continued."""
    first = await made(session, body)
    id = id_of(first)
    if deleted:
        deletion = await delete(session, id)
        require_answer(deletion)
        if deletion.answer.get("deleted") is not True:
            raise Failed(f"a response was deleted, but the answer says {deletion.content[:160]!r}", deletion)
        if (other := deletion.answer.get("id")) != id:
            raise Failed(f"the id differs: the deletion's answer has {other!r}, not {id!r} as the request", deletion)
    _missing(await read(session, id), first)
    if deleted:
        _missing(await delete(session, id), first)
    if await session.capable("responses.previous"):
        exchange = await session.send("responses", {"input": "Say hello.", "previous_response_id": id})
        if exchange.status is None or not 400 <= exchange.status < 500:
            raise Failed(f"a response that isn't kept is continued: {exchange}", first, exchange)


async def chain(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Each response continues the previous one, names it, and its input includes all that came before."""
    before: Exchange | None = None
    for body in bodies:
        linked = {"previous_response_id": id_of(before)} if before is not None else {}
        exchange = await made(session, {**body, **linked})
        if before is not None:
            required = session.dialect.always_has(endpoint, "previous_response_id")
            linked_to = exchange.answer.get("previous_response_id", None if required else id_of(before))
            if linked_to != id_of(before):
                raise Failed(f"previous_response_id is {linked_to!r}, not {id_of(before)!r}", before, exchange)
            less, more = counted(before, "input_tokens"), counted(exchange, "input_tokens")
            if more <= less:
                message = f"input_tokens is {more} where a response of {less} is continued; more were expected"
                raise Failed(message, before, exchange)
        before = exchange


async def instructions_end(session: Session, endpoint: str, *, instructions: str) -> None:
    """Instructions, many words here, apply to one response: the one that continues it has its own."""
    first = await made(session, {"input": "Say hello.", "instructions": instructions})
    second = await made(session, {"input": "Say hello.", "previous_response_id": id_of(first)})
    long, short = counted(first, "input_tokens"), counted(second, "input_tokens")
    if short >= long:
        message = (
            f"input_tokens is {long} with long instructions, and {short} in the turn after them; less were expected"
        )
        raise Failed(message, first, second)
    if second.answer.get("instructions") not in (None, "", []):
        raise Failed(f"instructions are {second.answer['instructions']!r} in an answer that had none", first, second)


async def continues_call(session: Session, endpoint: str, *, body: Mapping[str, Any], output: str) -> None:
    """A tool's result continues the response that called it, as if the call were in the input, too."""
    first = await made(session, body)
    calls = items_of(first, "function_call")
    if not calls or first.answer.get("status") == "incomplete":
        raise NotExercised("the model had no tokens left for a whole call")
    results = [{"type": "function_call_output", "call_id": call.get("call_id"), "output": output} for call in calls]
    after = {"input": results, "previous_response_id": id_of(first), "tools": body["tools"]}
    second = await made(session, after)
    if items_of(first, "reasoning"):
        return  # how much of earlier reasoning is read is the server's affair
    history = [{"role": "user", "content": body["input"]}, *calls, *results]
    third = await made(session, {"input": history, "tools": body["tools"], "store": False})
    continued, whole = counted(second, "input_tokens"), counted(third, "input_tokens")
    if continued < whole:
        raise Failed(
            f"with the call in the input there are {whole} tokens, and {continued} where the"
            " response that called is continued",
            second,
            third,
        )


async def kept_apart(session: Session, endpoint: str, *, count: int) -> None:
    """Responses that are made concurrently are each stored separately."""
    bodies = [
        {"input": f"Say the number {index}.", "metadata": {"place": str(index)}, "store": True, "max_output_tokens": 16}
        for index in range(count)
    ]
    firsts = await session.together([("responses", body) for body in bodies])
    for first in firsts:
        require_answer(first)
    if len({id_of(first) for first in firsts}) < count:
        raise Failed("responses made at the same time share an id", *firsts)
    for index, first in enumerate(firsts):
        again = await read(session, id_of(first))
        require_answer(again)
        _same(first, again)
        if (again.answer.get("metadata") or {}).get("place") != str(index):
            raise Failed(f"metadata is {again.answer.get('metadata')!r}: that of another response", first, again)


async def lists_input(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """The input items are each listed once, in the requested order, by pages that join to the whole list."""
    body = {"input": [{"role": "user", "content": text} for text in texts]}
    id = id_of(await made(session, body))
    oldest = await _items(session, id, "?order=asc")
    newest = await _items(session, id, "?order=desc")
    plain = await _items(session, id, "")
    ids = [item.get("id") for item in oldest.answer["data"]]
    if len(set(ids)) != len(texts):
        raise Failed(f"{len(texts)} items were sent, and {len(ids)} are listed, with the ids {ids}", oldest)
    for text, item in zip(texts, oldest.answer["data"], strict=True):
        if text not in str(item.get("content")):
            raise Failed(f"{text!r} is not where it belongs by order=asc", oldest)
    if [item.get("id") for item in newest.answer["data"]] != ids[::-1]:
        raise Failed("order=desc is not the reverse of order=asc", oldest, newest)
    if [item.get("id") for item in plain.answer["data"]] != ids[::-1]:
        raise Failed("without an order the newest item is not first", plain)
    await _pages(session, id, ids)


async def _pages(session: Session, id: str, ids: Sequence[Any]) -> None:
    """Pages of one item each, by `limit` and `after`, have the items in their order."""
    after = ""
    for index, expected in enumerate(ids):
        page = await _items(session, id, f"?order=asc&limit=1{after}")
        page_ids = [item.get("id") for item in page.answer["data"]]
        if page_ids != [expected]:
            raise Failed(f"page {index} of one item has {page_ids}, not {[expected]}", page)
        if page.answer.get("has_more") is not (index < len(ids) - 1):
            raise Failed(f"has_more is {page.answer.get('has_more')!r} on page {index + 1} of {len(ids)}", page)
        after = f"&after={page.answer.get('last_id')}"


async def _items(session: Session, id: str, query: str) -> Exchange:
    exchange = await input_items(session, id, query)
    require_answer(exchange)
    if not isinstance(exchange.answer.get("data"), list):
        raise Failed(f"data is {exchange.answer.get('data')!r}", exchange)
    return exchange


async def in_background(session: Session, endpoint: str) -> None:
    """A background response is answered before it is completed, and then gets its text."""
    first = await made(session, {"input": "Say hello.", "background": True})
    if first.answer.get("status") in UNDER_WAY and first.answer.get("output"):
        raise Failed("it is not finished, but the answer has output already", first)
    last = await _finished(session, id_of(first))
    if last.answer.get("status") not in ("completed", "incomplete"):
        raise Failed(f"it ended as {last.answer.get('status')!r}", last)
    if not last.answer.get("output") or not last.answer.get("usage"):
        raise Failed("it is finished, but has no output or no usage", last)


async def cancelled(session: Session, endpoint: str, *, limit: int) -> None:
    """A background response can be cancelled, more than once, and stays cancelled."""
    first = await made(session, {"input": LONG_INPUT, "background": True, "max_output_tokens": limit})
    id = id_of(first)
    second = await cancel(session, id)
    require_answer(second)
    last = await _finished(session, id)
    if second.answer.get("status") in ("completed", "incomplete"):
        raise NotExercised("it was finished before it could be cancelled")
    if last.answer.get("status") != "cancelled":
        raise Failed(f"it was cancelled, and ended as {last.answer.get('status')!r}", second, last)
    again = await cancel(session, id)
    require_answer(again)
    if again.answer.get("status") != "cancelled":
        raise Failed(f"cancelled again it is {again.answer.get('status')!r}", again)


async def not_cancellable(session: Session, endpoint: str) -> None:
    """Only a background response can be cancelled."""
    exchange = await cancel(session, id_of(await made(session, {"input": "Say hello."})))
    if exchange.status is None or not 400 <= exchange.status < 500:
        raise Failed(f"a response that was not made in the background is cancelled: {exchange}", exchange)


async def resumed(session: Session, endpoint: str) -> None:
    """A background stream can be read again: from its first event, and after any."""
    first = await made(session, {"input": "Say hello.", "background": True, "stream": True})
    events = [_event(chunk) for chunk in first.chunks]
    again = await read_events(session, id_of(first))
    require_answer(again)
    if [_event(chunk) for chunk in again.chunks] != events:
        raise Failed("read again, the stream has other events", first, again)
    middle = len(events) // 2
    rest = await read_events(session, id_of(first), after=first.chunks[middle].get("sequence_number"))
    require_answer(rest)
    if [_event(chunk) for chunk in rest.chunks] != events[middle + 1 :]:
        begins = rest.chunks[0].get("sequence_number") if rest.chunks else None
        raise Failed(f"behind event {events[middle][0]} the stream goes on with {begins}", first, rest)


def _event(chunk: Mapping[str, Any]) -> tuple[Any, ...]:
    return chunk.get("sequence_number"), chunk.get("type"), chunk.get("delta")


async def _finished(session: Session, id: str) -> Exchange:
    deadline = time.monotonic() + LONGEST
    while True:
        exchange = await read(session, id)
        require_answer(exchange)
        if exchange.answer.get("status") not in UNDER_WAY:
            return exchange
        if time.monotonic() > deadline:
            raise Failed(f"after {LONGEST:g} s it is still {exchange.answer.get('status')!r}", exchange)
        await asyncio.sleep(PAUSE)


def _same(first: Exchange, again: Exchange) -> None:
    for name in KEPT:
        if name in first.answer and _filled(first.answer[name]) != _filled(again.answer.get(name)):
            answered, seen = (shown(exchange.answer.get(name)) for exchange in (first, again))
            raise Failed(f"the {name} differs: answered {answered}, read {seen}", first, again)


def _filled(value: Any) -> Any:
    """Returns a value without null and empty fields: events may have either."""
    if isinstance(value, Mapping):
        return {name: _filled(item) for name, item in value.items() if item not in (None, [])}
    return [_filled(item) for item in value] if isinstance(value, list) else value


def _missing(exchange: Exchange, first: Exchange) -> None:
    if exchange.status != 404:
        advice = NOT_FOUND if exchange.status is not None and 400 <= exchange.status < 500 else None
        raise Failed(f"what is not kept is answered {exchange.status}, not 404", first, exchange, advice=advice)
