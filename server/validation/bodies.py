"""All bodies that are read at a time: how much they may hold together, and whose turn it is on the event loop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import Receive, Scope

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.validation.body import read_body
from specvino.server.validation.size import require_size

# As many of the largest bodies may be unfinished.
MOST_UNFINISHED = 16

# Up to so many bytes a body is judged at once: it takes a few milliseconds.
SMALL = 1 << 16

# Does a step of the work on a body, given as a function and its arguments.
Step = Callable[..., Awaitable[Any]]


class Bodies:
    """Reads the bodies of a server's requests, of at most `max_body` bytes each."""

    def __init__(self, max_body: int) -> None:
        self._max_body = max_body
        self._left = MOST_UNFINISHED * max_body
        self._held: dict[asyncio.Timeout, int] = {}  # by those who read, the first of them first
        self._turn = asyncio.Lock()

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """Returns the whole body. Raises ApiError for one that is too large, and ClientGone.

        Where all unfinished ones together would be too large, the one is refused that has been coming for the longest:
        one that comes as fast as it can doesn't take long.
        """
        try:
            async with asyncio.timeout(None) as reading:
                self._held[reading] = 0
                try:
                    raw = await read_body(scope, receive, self._max_body, lambda size: self._hold(reading, size))
                finally:
                    self._drop(reading)
        except TimeoutError:
            message = "The server is sent more at a time than it can hold, and this request has taken the longest."
            raise ApiError(ErrorCode.SERVER_BUSY, message, retry_after=1) from None
        require_size(raw, self._max_body)
        return raw

    @asynccontextmanager
    async def turn(self, size: int) -> AsyncIterator[Step]:
        """Gives what does the work on a body of this size: on a large one in a thread, where the event loop gets in
        between and waits for a single call of a native library at the most. Large bodies have their turns one after the
        other."""
        if size <= SMALL:
            yield _at_once
            return
        async with self._turn:
            yield asyncio.to_thread

    def _hold(self, reading: asyncio.Timeout, size: int) -> None:
        if reading not in self._held:
            return  # refused, and about to hear of it
        self._held[reading] += size
        self._left -= size
        while self._left < 0:
            longest = next(iter(self._held))
            self._drop(longest)
            longest.reschedule(0)

    def _drop(self, reading: asyncio.Timeout) -> None:
        self._left += self._held.pop(reading, 0)


async def _at_once(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)
