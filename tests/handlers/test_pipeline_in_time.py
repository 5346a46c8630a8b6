"""The time that a request has."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.pipeline import in_time


async def numbers(closed: list[bool], *, endless: bool) -> AsyncGenerator[int]:
    try:
        yield 1
        if endless:
            await asyncio.Event().wait()
        yield 2
    finally:
        closed.append(True)


async def collect(closed: list[bool], seconds: float | None, *, endless: bool = False) -> list[int]:
    return [number async for number in in_time(numbers(closed, endless=endless), seconds)]


@pytest.mark.parametrize("seconds", [None, 3600])
def test_what_is_complete_in_time(seconds: float | None) -> None:
    closed: list[bool] = []
    assert asyncio.run(collect(closed, seconds)) == [1, 2]
    assert closed == [True]


def test_what_is_late_ends_with_an_error() -> None:
    closed: list[bool] = []
    with pytest.raises(ApiError, match="not complete within") as caught:
        asyncio.run(collect(closed, 0.01, endless=True))
    assert (caught.value.code, caught.value.retry_after) == (ErrorCode.GENERATION_TIMEOUT, 5)
    assert closed == [True]
