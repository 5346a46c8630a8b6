"""The time limit of a request."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

Item = TypeVar("Item")

_RETRY_AFTER = 5


def in_time(items: AsyncGenerator[Item], seconds: float | None) -> AsyncGenerator[Item]:
    """Yields the items, and raises ApiError if they aren't complete within `seconds`; None is no limit.

    The time in which the receiver handles an item counts too: a client that reads slowly doesn't get more.
    """
    return items if seconds is None else _limited(items, seconds)


async def _limited(items: AsyncGenerator[Item], seconds: float) -> AsyncGenerator[Item]:
    deadline = asyncio.get_running_loop().time() + seconds
    async with aclosing(items):
        while True:
            try:
                # Around each item, not around all: different tasks may request them.
                async with asyncio.timeout_at(deadline):
                    item = await anext(items)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                message = f"The answer was not complete within this server's time limit of {seconds:g} s."
                raise ApiError(ErrorCode.GENERATION_TIMEOUT, message, retry_after=_RETRY_AFTER) from error
            yield item
