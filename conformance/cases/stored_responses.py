"""Responses that a server keeps: how they are asked for, and whether it keeps any."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.session import Session, require_answer
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.verdict import Failed, Refused

# The smallest limit of tokens that every system takes.
SHORT = 16

UNDER_WAY = ("queued", "in_progress")
UNSUPPORTED = (400, 404, 405, 422, 501)
LONG_INPUT = (
    "Please count from one to two hundred, and write every number in words, one on each line, without leaving any out."
)


async def made(session: Session, body: Mapping[str, Any]) -> Exchange:
    """Makes a new response, short and kept unless the body says otherwise. Raises Failed where there is none."""
    exchange = await session.answered("responses", {"max_output_tokens": SHORT, "store": True, **body})
    id_of(exchange)
    return exchange


def id_of(exchange: Exchange) -> str:
    """Returns the id of the response in an answer. Raises Failed where it has none."""
    try:
        id = exchange.answer.get("id")
    except Unreadable as error:
        raise Failed(str(error), exchange) from None
    if not isinstance(id, str) or not id:
        raise Failed(f"the response's id is {id!r}", exchange)
    return id


def items_of(exchange: Exchange, kind: str | None = None) -> list[dict[str, Any]]:
    """Returns the output items of a response, all or those of one type."""
    output = exchange.answer.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    return [item for item in items if kind in (None, item.get("type"))]


async def read(session: Session, id: str) -> Exchange:
    return await session.raw("GET", f"/responses/{id}", endpoint="response")


async def read_events(session: Session, id: str, *, after: int | None = None) -> Exchange:
    """Reads a response's events from the first one, or those behind `after`; only the former are whole streams, to be
    checked as such."""
    resumed = "" if after is None else f"&starting_after={after}"
    endpoint = "response" if after is None else None
    return await session.raw("GET", f"/responses/{id}?stream=true{resumed}", endpoint=endpoint)


async def delete(session: Session, id: str) -> Exchange:
    return await session.raw("DELETE", f"/responses/{id}", endpoint="response_deletion")


async def cancel(session: Session, id: str) -> Exchange:
    return await session.raw("POST", f"/responses/{id}/cancel", endpoint="response_cancel")


async def input_items(session: Session, id: str, query: str = "") -> Exchange:
    return await session.raw("GET", f"/responses/{id}/input_items{query}", endpoint="response_input_items")


async def keeps(session: Session) -> None:
    """Raises Refused where the server says that it keeps no responses, Failed where it only says so when asked."""
    first = await session.send("responses", {"input": "Say hello.", "max_output_tokens": SHORT, "store": True})
    _refused(first)
    require_answer(first)
    again = await read(session, id_of(first))
    if again.status in UNSUPPORTED and first.answer.get("store") is False:
        raise Refused("the server says that it kept nothing: store is false in its answer")
    if again.status != 200:
        raise Failed(f"the server takes store without effect: reading the response is answered {again.status}", again)


async def continues(session: Session) -> None:
    """Raises Refused or Failed where previous_response_id doesn't bring the earlier turns back."""
    first = await made(session, {"input": LONG_INPUT})
    body = {"input": "Say hello.", "previous_response_id": id_of(first), "max_output_tokens": SHORT}
    second = await session.send("responses", body)
    _refused(second)
    require_answer(second)
    with_first, alone = counted(second, "input_tokens"), counted(first, "input_tokens")
    if with_first <= alone:
        raise Failed(
            f"the server takes previous_response_id without effect: {with_first} tokens of input, where the earlier"
            f" turn alone had {alone}",
            first,
            second,
        )


async def deletes(session: Session) -> None:
    _answered(await delete(session, id_of(await made(session, {"input": "Say hello."}))))


async def lists_items(session: Session) -> None:
    _answered(await input_items(session, id_of(await made(session, {"input": "Say hello."}))))


async def works_behind(session: Session) -> None:
    """Raises Refused or Failed where background doesn't answer at once."""
    exchange = await session.send(
        "responses", {"input": "Say hello.", "max_output_tokens": SHORT, "store": True, "background": True}
    )
    _answered(exchange)
    shown = exchange.answer.get("background")
    if shown is not True and exchange.answer.get("status") not in UNDER_WAY:
        raise Failed(f"the server takes background without effect: it is {shown!r} in the answer", exchange)


async def resumes(session: Session) -> None:
    """Raises Refused or Failed where the events of a stream in the background can't be read again."""
    operation = session.dialect.operations["response"]
    if not any(each["name"] == "stream" for each in operation.parameters):
        raise Refused(f"in {session.dialect.name} a response isn't read as a stream")
    first = await made(session, {"input": "Say hello.", "background": True, "stream": True})
    again = await read_events(session, id_of(first))
    _answered(again)
    if not again.is_stream:
        raise Failed(f"the server takes stream without effect: the answer is {again.media}", again)


def _refused(exchange: Exchange) -> None:
    if exchange.status in UNSUPPORTED and exchange.content:
        said = exchange.error.get("message") or exchange.content.decode("utf-8", "replace")
        raise Refused(f"the server answers {exchange.status}: {str(said)[:160]}")


def _answered(exchange: Exchange) -> None:
    _refused(exchange)
    require_answer(exchange)
