"""The bodies of requests: their media type, how much one may hold, how much all together, and whose turn it is on the
event loop."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import Receive, Scope

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


def require_json(scope: Scope) -> None:
    """Refuses a body of another content type than JSON.

    One without is taken for JSON, unless a browser sends it: it does so for any web page and asks nobody before, which
    it must for JSON.
    """
    declared = by_browser = False
    for name, value in scope["headers"]:
        if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            shown = value[:100].decode("latin-1")
            raise ApiError(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"The content encoding is {shown!r}, but must be identity."
            )
        by_browser = by_browser or name in (b"origin", b"sec-fetch-site")
        if name == b"content-type":
            declared = True
            media_type = value.split(b";", 1)[0].strip().lower()
            if media_type != b"application/json":
                shown = media_type[:100].decode("latin-1")
                raise ApiError(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"The content type is {shown!r}, but must be application/json."
                )
    if by_browser and not declared:
        message = "The content type is missing, but a web page must send application/json."
        raise ApiError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, message)


async def read_body(scope: Scope, receive: Receive, limit: int, hold: Callable[[int], None]) -> bytes:
    """Returns the whole body, with or without a content length; `hold` is told the size of each piece.

    Raises ApiError over `limit` bytes, and ClientGone.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise _too_large(limit)
    chunks = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        hold(len(chunk))
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def _too_large(limit: int) -> ApiError:
    return ApiError(
        ErrorCode.REQUEST_TOO_LARGE, f"The request body is larger than the {limit} bytes that this server accepts."
    )


# A body of the largest size may have one name, object or list for so many of its bytes, and one element for so many.
# Then none of the steps that make a request of it holds up the event loop for 50 ms. A text needs none of them.
BYTES_FOR_A_NAME = 256
BYTES_FOR_AN_ELEMENT = 64

# Of each any body may have as many: where bodies must be small, their bytes are bound enough.
ALWAYS = 1024


def require_size(raw: bytes, max_body: int) -> None:
    """Raises ApiError for a JSON text with more values than a body of at most `max_body` bytes may have."""
    names, elements = _most(max_body, BYTES_FOR_A_NAME), _most(max_body, BYTES_FOR_AN_ELEMENT)
    # Most bodies are within the bounds even if their texts are taken for structure.
    if _within(raw, names, elements):
        return
    # Between two strings stands a colon or a comma at the least.
    outside = _outside_strings(raw, names + elements + 1)
    if outside is not None and _within(outside, names, elements):
        return
    message = (
        f"The request body has more than {names} names, objects and lists, or more than {elements} elements, "
        "which this server accepts in all."
    )
    raise ApiError(ErrorCode.REQUEST_TOO_LARGE, message)


def most_elements(max_body: int) -> int:
    """Returns the most elements that a list may have: what is counted are the commas between them."""
    return _most(max_body, BYTES_FOR_AN_ELEMENT) + 1


def _most(max_body: int, bytes_for_one: int) -> int:
    return max(ALWAYS, max_body // bytes_for_one)


def _outside_strings(raw: bytes, most: int) -> bytes | None:
    """Returns a JSON text without what its strings hold; None if there are more than `most` strings."""
    # Without escapes, quotes are the ends of strings.
    raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(raw.split(b'"')[::2]) if raw.count(b'"') // 2 <= most else None


def _within(text: bytes, names: int, elements: int) -> bool:
    return _count(text, b":{[") <= names and _count(text, b",") <= elements


def _count(raw: bytes, characters: bytes) -> int:
    return len(raw) - len(raw.translate(None, characters))


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
