"""Requests that ask the grammar process for the same constraint, and leave."""

import asyncio
import os
import signal
from contextlib import suppress
from typing import Any

import pytest

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.client.grammars import GrammarClient
from specvino.engine.openvino.messages.grammar import Lowered
from specvino.engine.processes.request_reply import QuestionDropped
from specvino.engine.request import JsonSchema


def test_a_request_that_joins_a_dropped_question_is_answered() -> None:
    """All requests for a constraint have left, and its question is dropped; the next request for it comes before the
    client has forgotten the question."""

    async def test() -> None:
        client = GrammarClient("", deadline=600.0, most_computing=600.0)
        await client.start()
        try:
            os.kill(client.pids["grammar"] or 0, signal.SIGSTOP)
            first = asyncio.create_task(client.check(JsonSchema({"const": 1})))
            leaving = asyncio.create_task(client.check(JsonSchema({"const": 2})))
            while len(client._grammars._turns) < 1:  # noqa: ASYNC110 - only tests wait for it
                await asyncio.sleep(0)
            leaving.cancel()
            with suppress(asyncio.CancelledError):
                await leaving
            os.kill(client.pids["grammar"] or 0, signal.SIGCONT)
            while len(client._grammars._turns) > 0:  # noqa: ASYNC110 - only tests wait for it
                await asyncio.sleep(0)
            assert len(client._asked) == 2  # the dropped one, too
            joining = await client.check(JsonSchema({"const": 2}))
            assert joining != await first
        finally:
            await client.close()

    asyncio.run(test())


def test_a_request_that_joins_a_question_as_it_is_dropped_leaves_the_event_loop_running(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No request may join a question whose task is done: it would do so again and again."""
    lowered = LoweredConstraint("grammar", 'root ::= "1"')
    asked: list[object] = []

    async def ask(*arguments: object) -> Lowered:
        asked.append(arguments)
        if len(asked) == 1:
            raise QuestionDropped
        return Lowered(1, lowered)

    async def test() -> None:
        client = GrammarClient("", deadline=600.0, most_computing=600.0)
        monkeypatch.setattr(client._grammars, "ask", ask)
        joined = client._result
        calls = iter(range(10))  # more would be a loop without end

        async def counted(question: Any) -> Any:
            next(calls)
            return await joined(question)

        monkeypatch.setattr(client, "_result", counted)
        first = asyncio.create_task(client.check(JsonSchema({"const": 1})))
        await asyncio.sleep(0)  # its question's task runs next, and this one behind it
        joining = asyncio.create_task(client.check(JsonSchema({"const": 1})))
        assert (await first, await joining) == (lowered, lowered)

    asyncio.run(test())
