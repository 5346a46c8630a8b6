"""Checks of stored responses: read, continued, listed, deleted, cancelled, and created in the background; and of
stored conversations."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import VARYING
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import Session, require_answer
from specvino.conformance.session.steps import NOT_FOUND, counted, quoted
from specvino.conformance.session.stored_responses import (
    LONG_INPUT,
    SHORT,
    UNDER_WAY,
    add_items,
    cancel,
    conversation_items,
    create,
    create_conversation,
    delete,
    id_of,
    input_items,
    items_of,
    read,
    read_events,
)
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable

# Fields that a stored response has as in the answer.
KEPT = ("id", "object", "created_at", "status", "model", "output", "usage", "metadata", "instructions", "error")

# The time limit for a background response, in seconds.
LONGEST = 30.0

PAUSE = 0.1

# How long the inputs are, and so most answers, of the responses that are created and cancelled until one is cancelled
# before it is finished. A server without a model finished 6 of 10 of the first length before.
LENGTHS = (1, 2, 4, 8, 16, 32, 32, 32, 32, 32)


async def retrieved_equals_created(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A stored response equals the one in the answer, or in the last event of its stream."""
    first = await create(session, body)
    again = await read(session, id_of(first))
    require_answer(again)
    _require_same(session.dialect, first, again)


async def response_unavailable(
    session: Session, endpoint: str, *, body: Mapping[str, Any], deleted: bool = False
) -> None:
    """A response that isn't stored, or was `deleted`, can't be read, deleted or continued."""
    first = await create(session, body)
    id = id_of(first)
    if deleted:
        deletion = await delete(session, id)
        require_answer(deletion)
        if deletion.answer.get("deleted") is not True:
            raise Failed(f"deleted isn't true in the answer to the deletion: {deletion.content[:160]!r}", deletion)
        if (other := deletion.answer.get("id")) != id:
            raise Failed(f"the id differs: {other!r} in the answer to the deletion, {id!r} in the request", deletion)
    _require_not_found(await read(session, id), first)
    if deleted:
        _require_not_found(await delete(session, id), first)
    if await session.capable("responses.previous"):
        exchange = await session.send("responses", {"input": "Say hello.", "previous_response_id": id})
        if exchange.status is None or not 400 <= exchange.status < 500:
            raise Failed(f"a response that isn't stored is continued: {exchange}", first, exchange)


async def responses_continued(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Each response continues the previous one, has its id, and its input includes all earlier turns."""
    before: Exchange | None = None
    for body in bodies:
        linked = {"previous_response_id": id_of(before)} if before is not None else {}
        exchange = await create(session, {**body, **linked})
        if before is not None:
            required = session.dialect.always_has(endpoint, "previous_response_id")
            linked_to = exchange.answer.get("previous_response_id", None if required else id_of(before))
            if linked_to != id_of(before):
                raise Failed(f"previous_response_id is {linked_to!r}, not {id_of(before)!r}", before, exchange)
            less, more = counted(before, "input_tokens"), counted(exchange, "input_tokens")
            if more <= less:
                message = f"input_tokens is {more} for a continuation of a response with {less}, expected more"
                raise Failed(message, before, exchange)
        before = exchange


async def instructions_not_inherited(session: Session, endpoint: str, *, instructions: str) -> None:
    """Instructions, here long ones, apply to one response only, not to the one that continues it."""
    first = await create(session, {"input": "Say hello.", "instructions": instructions})
    second = await create(session, {"input": "Say hello.", "previous_response_id": id_of(first)})
    long, short = counted(first, "input_tokens"), counted(second, "input_tokens")
    if short >= long:
        message = f"input_tokens is {long} with long instructions, and {short} in the turn after them, expected less"
        raise Failed(message, first, second)
    if second.answer.get("instructions") not in (None, "", []):
        raise Failed(f"instructions are {second.answer['instructions']!r}, though the request has none", first, second)


async def tool_result_continues_response(
    session: Session, endpoint: str, *, body: Mapping[str, Any], output: str
) -> None:
    """A tool result continues the response with the call, as if the call were in the input."""
    first = await create(session, body)
    calls = items_of(first, "function_call")
    if not calls or first.answer.get("status") == "incomplete":
        raise Unsuitable("the token limit truncated the function call")
    results = [{"type": "function_call_output", "call_id": call.get("call_id"), "output": output} for call in calls]
    after = {"input": results, "previous_response_id": id_of(first), "tools": body["tools"]}
    second = await create(session, after)
    if items_of(first, "reasoning"):
        return  # servers may drop earlier reasoning
    history = [{"role": "user", "content": body["input"]}, *calls, *results]
    third = await create(session, {"input": history, "tools": body["tools"], "store": False})
    continued, full = counted(second, "input_tokens"), counted(third, "input_tokens")
    if continued < full:
        raise Failed(
            f"input_tokens is {full} with the call in the input, but {continued} with previous_response_id",
            second,
            third,
        )


async def concurrent_responses_stored(session: Session, endpoint: str, *, count: int) -> None:
    """Concurrently created responses are stored separately."""
    bodies = [
        {"input": f"Say the number {index}.", "metadata": {"place": str(index)}, "store": True, "max_output_tokens": 16}
        for index in range(count)
    ]
    firsts = await session.together([("responses", body) for body in bodies])
    for first in firsts:
        require_answer(first)
    if len({id_of(first) for first in firsts}) < count:
        raise Failed("concurrently created responses have the same id", *firsts)
    for index, first in enumerate(firsts):
        again = await read(session, id_of(first))
        require_answer(again)
        _require_same(session.dialect, first, again)
        # responses/echo/metadata reports metadata that aren't returned.
        if (again.answer.get("metadata") or {}).get("place", str(index)) != str(index):
            raise Failed(f"metadata is {again.answer['metadata']!r}, from another response", first, again)


async def input_items_listed(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """Input items are listed once each, in the requested order, and pages join to the whole list."""
    body = {"input": [{"role": "user", "content": text} for text in texts]}
    id = id_of(await create(session, body))
    await _in_order(partial(input_items, session, id), texts)


async def conversation_items_listed(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """The items of a conversation, the first of which it was created with, are listed as those of a response are."""
    first, *more = ({"type": "message", "role": "user", "content": text} for text in texts)
    id = id_of(await create_conversation(session, [first]))
    for item in more:
        require_answer(await add_items(session, id, [item]))
    await _in_order(partial(conversation_items, session, id), texts)


async def conversation_continued(
    session: Session, endpoint: str, *, items: Sequence[Mapping[str, Any]], question: str, stream: bool = False
) -> None:
    """A response in a conversation has the items in its prompt; its input and output are the next items."""
    id = id_of(await create_conversation(session, items))
    body = {"input": question, "store": False, **({"stream": True} if stream else {})}
    inside, outside = [
        await session.answered(endpoint, {"max_output_tokens": SHORT, **body, **more})
        for more in ({"conversation": id}, {})
    ]
    if inside.answer.get("conversation") != {"id": id}:
        raise Failed(f"conversation is {inside.answer.get('conversation')!r}, expected the id {id!r}", inside)
    more, less = counted(inside, "input_tokens"), counted(outside, "input_tokens")
    if more <= less:
        message = f"input_tokens is {more} in the conversation and {less} outside it, expected more"
        raise Failed(message, inside, outside)
    listed = await _items(partial(conversation_items, session, id), "?order=asc")
    added = listed.answer["data"][len(items) :]
    if not added or question not in str(added[0].get("content")):
        raise Failed("the input isn't the item after those that the conversation had", inside, listed)
    kinds, expected = [item.get("type") for item in added[1:]], [item.get("type") for item in items_of(inside)]
    if kinds != expected:
        raise Failed(f"after the input come items of the types {kinds}, expected the output {expected}", inside, listed)


Listing = Callable[[str], Awaitable[Exchange]]


async def _in_order(listing: Listing, texts: Sequence[str]) -> None:
    """Checks a list of items, by its query: each text once, in the requested order, and by pages."""
    oldest, newest, plain = [await _items(listing, query) for query in ("?order=asc", "?order=desc", "")]
    ids = [item.get("id") for item in oldest.answer["data"]]
    if len(set(ids)) != len(texts):
        raise Failed(f"{len(texts)} items were sent, but {len(ids)} are listed, with the ids {ids}", oldest)
    for text, item in zip(texts, oldest.answer["data"], strict=True):
        if text not in str(item.get("content")):
            raise Failed(f"{text!r} is at the wrong position with order=asc", oldest)
    if [item.get("id") for item in newest.answer["data"]] != ids[::-1]:
        raise Failed("order=desc is not the reverse of order=asc", oldest, newest)
    if [item.get("id") for item in plain.answer["data"]] != ids[::-1]:
        raise Failed("without order, the newest item isn't the first", plain)
    await _pages(listing, ids)


async def _pages(listing: Listing, ids: Sequence[Any]) -> None:
    """Checks pages of one item, by `limit` and `after`."""
    after = ""
    for index, expected in enumerate(ids):
        page = await _items(listing, f"?order=asc&limit=1{after}")
        page_ids = [item.get("id") for item in page.answer["data"]]
        if page_ids != [expected]:
            raise Failed(f"page {index} has the items {page_ids}, not {[expected]}", page)
        if page.answer.get("has_more") is not (index < len(ids) - 1):
            raise Failed(f"has_more is {page.answer.get('has_more')!r} on page {index + 1} of {len(ids)}", page)
        after = f"&after={page.answer.get('last_id')}"


async def _items(listing: Listing, query: str) -> Exchange:
    exchange = await listing(query)
    require_answer(exchange)
    if not isinstance(exchange.answer.get("data"), list):
        raise Failed(f"data is {exchange.answer.get('data')!r}", exchange)
    return exchange


async def background_response_completes(session: Session, endpoint: str) -> None:
    """A background response is returned before it is completed, and gets its output later."""
    first = await create(session, {"input": "Say hello.", "background": True})
    if first.answer.get("status") in UNDER_WAY and first.answer.get("output"):
        raise Failed("the response isn't finished, but has output", first)
    last = await _finished(session, id_of(first))
    if last.answer.get("status") not in ("completed", "incomplete"):
        raise Failed(f"the final status is {last.answer.get('status')!r}", last)
    for name in ("output", "usage"):
        if not last.answer.get(name):
            raise Failed(f"the finished response has no {name}", last)


async def background_response_cancelled(session: Session, endpoint: str, *, limit: int) -> None:
    """A background response can be cancelled, repeatedly, and stays cancelled."""
    for times in LENGTHS:
        body = {"input": LONG_INPUT * times, "background": True, "max_output_tokens": limit * min(times, 4)}
        first = await create(session, body)
        id = id_of(first)
        second = await cancel(session, id)
        require_answer(second)
        last = await _finished(session, id)
        if second.answer.get("status") not in ("completed", "incomplete"):
            break
    else:
        raise NotExercised("the response was finished before it could be cancelled")
    if last.answer.get("status") != "cancelled":
        raise Failed(f"the response was cancelled, but its final status is {last.answer.get('status')!r}", second, last)
    again = await cancel(session, id)
    require_answer(again)
    if again.answer.get("status") != "cancelled":
        raise Failed(f"after a second cancellation the status is {again.answer.get('status')!r}", again)


async def cancel_requires_background(session: Session, endpoint: str) -> None:
    """Only background responses can be cancelled."""
    exchange = await cancel(session, id_of(await create(session, {"input": "Say hello."})))
    if exchange.status is None or not 400 <= exchange.status < 500:
        raise Failed(f"a response that isn't a background response is cancelled: {exchange}", exchange)


async def background_stream_resumed(session: Session, endpoint: str) -> None:
    """A background stream can be read again, from the first event and after any event."""
    first = await create(session, {"input": "Say hello.", "background": True, "stream": True})
    events = [_event(chunk) for chunk in first.chunks]
    again = await read_events(session, id_of(first))
    require_answer(again)
    if [_event(chunk) for chunk in again.chunks] != events:
        raise Failed("a second read of the stream returns other events", first, again)
    middle = len(events) // 2
    rest = await read_events(session, id_of(first), after=first.chunks[middle].get("sequence_number"))
    require_answer(rest)
    if [_event(chunk) for chunk in rest.chunks] != events[middle + 1 :]:
        begins = rest.chunks[0].get("sequence_number") if rest.chunks else None
        raise Failed(f"after event {events[middle][0]} the stream continues with {begins}", first, rest)


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
            raise Failed(f"after {LONGEST:g} s the status is still {exchange.answer.get('status')!r}", exchange)
        await asyncio.sleep(PAUSE)


def _require_same(dialect: Dialect, first: Exchange, again: Exchange) -> None:
    one, other = (dialect.described("responses", exchange.answer) for exchange in (first, again))
    for name in KEPT:
        if name in one and _filled(one[name]) != _filled(other.get(name)):
            answered, seen = (quoted(answer.get(name)) for answer in (one, other))
            raise Failed(f"the {name} differs: {answered} in the answer, {seen} when read", first, again)


def _filled(value: Any) -> Any:
    """Returns a value without null and empty fields, which events may have or not, and without what is encrypted anew
    when it is read."""
    if isinstance(value, Mapping):
        kept = {name: item for name, item in value.items() if name not in VARYING and item not in (None, [])}
        return {name: _filled(item) for name, item in kept.items()}
    return [_filled(item) for item in value] if isinstance(value, list) else value


def _require_not_found(exchange: Exchange, first: Exchange) -> None:
    if exchange.status != 404:
        advice = NOT_FOUND if exchange.status is not None and 400 <= exchange.status < 500 else None
        raise Failed(f"a response that isn't stored returns {exchange.status}, not 404", first, exchange, advice=advice)
