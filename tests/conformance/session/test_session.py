"""Exchanges whose requests are sent at the same time are marked, and reports prefer others."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from support.reports import exchange

from specvino.conformance.cases.run import RuleTally
from specvino.conformance.dialect import Dialect
from specvino.conformance.rules import RULES
from specvino.conformance.session.session import Session, SocketSession

HELLO = {"messages": [{"role": "user", "content": "Hello"}]}


async def capable(capability: str) -> bool:
    return True


async def answer(request: Any, **how: Any) -> Any:
    return exchange(request=request)


async def answers(requests: Any, **how: Any) -> Any:
    return [exchange(request=request) for request in requests]


def opened() -> Session:
    client: Any = SimpleNamespace(target=SimpleNamespace(key="", credentials=lambda key: {}), send=answer)
    return Session(client, Dialect("openai"), "m", lambda exchange: None, capable)


@pytest.mark.parametrize(("number", "marked"), [(1, False), (2, True)])
def test_several_requests_are_together_on_connections_and_on_a_socket(number, marked) -> None:
    session = opened()
    socket: Any = SimpleNamespace(send=answers)
    sent = [
        *asyncio.run(session.together([("chat", HELLO)] * number)),
        *asyncio.run(SocketSession(session, "responses", socket, {}).together([{"input": "Hello"}] * number)),
    ]
    assert [exchange.together for exchange in sent] == [marked] * 2 * number
    assert session.exchanges == sent
    assert not asyncio.run(session.send("chat", HELLO)).together


def test_a_finding_shows_an_answer_to_a_request_that_was_sent_alone() -> None:
    tally = RuleTally(RULES[0](Dialect("openai")))
    for number, together in ((1, True), (2, False), (3, True), (4, False)):
        tally.add("it broke", exchange(number=number, together=together))
    assert [[shown.number for shown in finding.exchanges] for finding in tally.findings.values()] == [[2]]
