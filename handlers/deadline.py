"""The time that a request has."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

Item = TypeVar("Item")

_RETRY_AFTER = 5


def in_time(items: AsyncGenerator[Item], seconds: float | None) -> AsyncGenerator[Item]:
    """Yields the items, and raises ApiError where they aren't complete within `seconds`; None is no limit.

    The time goes on while the receiver of an item works: one that reads slowly has no more of it.
    """
    return items if seconds is None else _limited(items, seconds)


async def _limited(items: AsyncGenerator[Item], seconds: float) -> AsyncGenerator[Item]:
    deadline = asyncio.get_running_loop().time() + seconds
    async with aclosing(items):
        while True:
            try:
                # Around each item, not around all: they may be asked for in different tasks.
                async with asyncio.timeout_at(deadline):
                    item = await anext(items)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                message = f"The answer was not complete within the {seconds:g} s that this server gives to a request."
                raise ApiError(ErrorCode.GENERATION_TIMEOUT, message, retry_after=_RETRY_AFTER) from error
            yield item
