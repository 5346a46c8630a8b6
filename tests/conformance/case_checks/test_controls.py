"""What is measured by requests beside another one."""

import asyncio
from contextlib import asynccontextmanager
from typing import Any

import pytest
from support.reports import exchange

from specvino.conformance.case_checks.controls import beside
from specvino.conformance.verdict import Failed, NotExercised


class Session:
    """Its controls are answered at once."""

    @asynccontextmanager
    async def controls(self):
        async def control():
            return 200

        yield control


def after(ended):
    async def answered():
        raise Failed("it isn't complete", exchange(ended=ended))

    session: Any = Session()
    return asyncio.run(beside(session, answered()))


def test_an_answer_that_is_not_complete_in_time_is_no_fault() -> None:
    with pytest.raises(NotExercised, match="in time"):
        after("too slow")


def test_an_answer_that_breaks_off_is_one() -> None:
    with pytest.raises(Failed, match="it isn't complete"):
        after("cut off")
