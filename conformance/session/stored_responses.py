"""Helpers to create, read, cancel and delete stored responses, and for stored conversations."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.session.session import Session
from specvino.conformance.verdict import Failed

# The smallest token limit of responses that all systems accept.
SHORT = 16

UNDER_WAY = ("queued", "in_progress")
LONG_INPUT = (
    "Please count from one to two hundred, and write every number in words, one on each line, without leaving any out."
)


async def create(session: Session, body: Mapping[str, Any]) -> Exchange:
    """Creates a response, short and stored by default. Raises Failed if it isn't created."""
    exchange = await session.answered("responses", {"max_output_tokens": SHORT, "store": True, **body})
    id_of(exchange)
    return exchange


def id_of(exchange: Exchange) -> str:
    """Returns the id of the response or conversation in an answer. Raises Failed without one."""
    try:
        id = exchange.answer.get("id")
    except Unreadable as error:
        raise Failed(str(error), exchange) from None
    if not isinstance(id, str) or not id:
        raise Failed(f"the id is {id!r}", exchange)
    return id


def items_of(exchange: Exchange, kind: str | None = None) -> list[dict[str, Any]]:
    """Returns the output items of a response, all or those of one type."""
    output = exchange.answer.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    return [item for item in items if kind in (None, item.get("type"))]


async def read(session: Session, id: str) -> Exchange:
    return await session.raw("GET", f"/responses/{id}", endpoint="response")


async def read_events(session: Session, id: str, *, after: int | None = None) -> Exchange:
    """Reads a response's events from the first one, or those after sequence number `after`. Rules for all answers apply
    only to complete streams, so not to resumed ones."""
    resumed = "" if after is None else f"&starting_after={after}"
    path = f"/responses/{id}?stream=true{resumed}"
    return await session.raw("GET", path, endpoint="response", for_rules=after is None)


async def delete(session: Session, id: str) -> Exchange:
    return await session.raw("DELETE", f"/responses/{id}", endpoint="response_deletion")


async def cancel(session: Session, id: str) -> Exchange:
    return await session.raw("POST", f"/responses/{id}/cancel", endpoint="response_cancel")


async def input_items(session: Session, id: str, query: str = "") -> Exchange:
    return await session.raw("GET", f"/responses/{id}/input_items{query}", endpoint="response_input_items")


async def create_conversation(session: Session, items: Sequence[Mapping[str, Any]]) -> Exchange:
    body = {"items": list(items)}
    return await session.raw("POST", "/conversations", endpoint="conversations", body=body)


async def add_items(session: Session, id: str, items: Sequence[Mapping[str, Any]]) -> Exchange:
    path, body = f"/conversations/{id}/items", {"items": list(items)}
    return await session.raw("POST", path, endpoint="conversation_items_creation", body=body)


async def conversation_items(session: Session, id: str, query: str = "") -> Exchange:
    return await session.raw("GET", f"/conversations/{id}/items{query}", endpoint="conversation_items")
