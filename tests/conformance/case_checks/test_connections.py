"""A verdict about disconnects where an answer isn't complete."""

import asyncio
from contextlib import asynccontextmanager
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest
from support.reports import exchange

from specvino.conformance.case_checks import controls
from specvino.conformance.case_checks.connections import generation_stops_on_disconnect
from specvino.conformance.dialect import Dialect
from specvino.conformance.session.session import Session
from specvino.conformance.verdict import Failed, NotExercised

LONG, SMALL = 500, 1

# The number of controls during a long answer.
DURING = 64


class Scripted(Session):
    """Answers end as a script says, by their token limits. Controls are answered at once."""

    def __init__(self, endings: dict[int, list[str]]) -> None:
        client: Any = SimpleNamespace(target=SimpleNamespace(key="", credentials=lambda key: {}), send=self._answer)
        super().__init__(client, Dialect("openai"), "m", lambda exchange: None, self._capable)
        self._endings = {limit: iter(ended) for limit, ended in endings.items()}

    async def _capable(self, capability: str) -> bool:
        return True

    async def _answer(self, request: Any, **how: Any) -> Any:
        limit = request.body["max_tokens"]
        ended = next(self._endings[limit])
        if limit == LONG and ended != "left":
            await self._asked_often.wait()
        return exchange(request=request, ended=ended, seconds=0.0)

    @asynccontextmanager
    async def controls(self):
        self._asked_often = asyncio.Event()
        numbers = count(1)

        async def control():
            if next(numbers) == DURING:
                self._asked_often.set()
            return 200

        yield control


def judged(monkeypatch: pytest.MonkeyPatch, *, small: list[str], long: list[str]) -> None:
    monkeypatch.setattr(controls, "PAUSE", 0.0)
    session = Scripted({SMALL: small, LONG: long})
    bodies = {"body": {"max_tokens": LONG}, "small": {"max_tokens": SMALL}}
    asyncio.run(generation_stops_on_disconnect(session, "transport", to="chat", **bodies))


def test_a_small_answer_that_never_comes_after_a_disconnect_is_a_fault(monkeypatch) -> None:
    with pytest.raises(Failed, match="too slow"):
        judged(monkeypatch, small=["complete", "too slow"], long=["complete", "left"])


def test_a_small_answer_that_comes_after_a_disconnect_is_none(monkeypatch) -> None:
    judged(monkeypatch, small=["complete", "complete"], long=["complete", "left"])


def test_a_long_answer_that_is_not_complete_in_time_is_no_fault(monkeypatch) -> None:
    with pytest.raises(NotExercised, match="in time"):
        judged(monkeypatch, small=["complete"], long=["too slow"])


def test_a_long_answer_that_breaks_off_is_one(monkeypatch) -> None:
    with pytest.raises(Failed, match="cut off"):
        judged(monkeypatch, small=["complete"], long=["cut off"])
