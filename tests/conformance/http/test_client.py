"""Requests over real connections."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from reference_server.bench import MODEL
from reference_server.server import ReferenceServer
from support.asgi import answering

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Client, Target
from specvino.conformance.http.exchange import Request
from specvino.conformance.session.session import Session

BODY = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 200, "ignore_eos": True}


async def ready(model: str) -> bool:
    return True


def with_session(do, **server):
    async def run():
        async with answering(ReferenceServer(model=MODEL, **server)) as url, Client(Target(url)) as client:
            return await do(Session(client, Dialect("specvino"), MODEL, lambda exchange: None, ready))

    return asyncio.run(run())


def asked(session: Session, body: Mapping[str, Any]) -> Request:
    content = json.dumps({"model": session.model, **body}).encode()
    return Request("chat", "POST", "/chat/completions", {"content-type": "application/json"}, content)


def test_leaves_before_an_answer_comes() -> None:
    exchange = with_session(lambda session: session.client.send(asked(session, BODY), leave_at=0.05), pace=0.05)
    assert (exchange.status, exchange.ended, exchange.problem) == (None, "left", None)


def test_leaves_amid_a_stream() -> None:
    body = {**BODY, "stream": True}
    exchange = with_session(lambda session: session.client.send(asked(session, body), leave_at=2), pace=0.05)
    assert (exchange.status, exchange.ended) == (200, "left")
    assert exchange.chunks


def test_waiting_in_line_is_no_slowness() -> None:
    """Each answer takes half a second, and there is one at a time: the last comes after more than a timeout."""
    brief = {**BODY, "max_tokens": 10}

    async def run():
        async with (
            answering(ReferenceServer(model=MODEL, pace=0.05)) as url,
            Client(Target(url, timeout=5)) as client,
        ):
            session = Session(client, Dialect("specvino"), MODEL, lambda exchange: None, ready)
            return await session.together([("chat", brief)] * 12)

    assert [exchange.problem for exchange in asyncio.run(run())] == [None] * 12


def test_sends_chunks_where_the_header_says_so() -> None:
    async def chunked(session):
        content = b'{"model": "reference", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}'
        return await session.raw("POST", "/chat/completions", content=content, headers={"transfer-encoding": "chunked"})

    assert with_session(chunked).status == 200


def test_requests_of_one_connection_share_it() -> None:
    async def twice(session):
        async with session.one_connection() as single:
            first, second = await single.send("models"), await single.send("models")
        third = await session.send("models")
        return first, second, third, session.exchanges

    first, second, third, exchanges = with_session(twice)
    assert first.connection == second.connection != third.connection
    assert first.connection
    assert [exchange.number for exchange in exchanges] == [1, 2, 3]


def test_a_connection_that_is_to_be_closed_has_no_name() -> None:
    async def closing(session):
        return await session.raw("GET", "/models", headers={"connection": "close"})

    assert with_session(closing).connection is None
