"""Request bodies: media type, size limits per body and in total, and scheduling of their validation."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.types import Receive, Scope

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


def require_json(scope: Scope, *, of_any_type: bool = False) -> None:
    """Raises ApiError for a content type other than JSON, unless a body `of_any_type` is read as JSON.

    A body without a content type is treated as JSON, unless a browser sent it: browsers send such bodies for any web
    page without a CORS preflight, which JSON requires. With `of_any_type`, a body of another type is read as JSON under
    the same condition.
    """
    shown = None  # the type, if it isn't JSON's
    declared = by_browser = False
    for name, value in scope["headers"]:
        if name == b"content-encoding" and value.strip().lower() not in (b"", b"identity"):
            shown = value[:100].decode("latin-1")
            raise ApiError(
                ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                f"The content encoding {shown!r} isn't supported; send the body unencoded.",
            )
        by_browser = by_browser or name in (b"origin", b"sec-fetch-site")
        if name == b"content-type":
            declared = True
            media_type = value.split(b";", 1)[0].strip().lower()
            if media_type != b"application/json":
                shown = media_type[:100].decode("latin-1")
    if shown is not None and (by_browser or not of_any_type):
        message = f"The content type is {shown!r}, but must be application/json."
        raise ApiError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, message)
    if by_browser and not declared:
        message = "The content type is missing; web pages have to send application/json."
        raise ApiError(ErrorCode.UNSUPPORTED_MEDIA_TYPE, message)


async def read_body(scope: Scope, receive: Receive, limit: int, hold: Callable[[int], None]) -> bytes:
    """Returns the whole body, with or without a content length; calls `hold` with the size of each chunk.

    Raises ApiError for more than `limit` bytes, and ClientGone.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise too_large(limit)
    chunks = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        hold(len(chunk))
        chunks.append(chunk)
        if not message.get("more_body"):
            return b"".join(chunks)


def too_large(limit: int) -> ApiError:
    """Returns the error for a body of more than `limit` bytes."""
    return ApiError(
        ErrorCode.REQUEST_TOO_LARGE, f"The request body is larger than the {limit} bytes that this server accepts."
    )


# A body of the maximum size may have one name, object or list per this many bytes, and one element per this many. Then
# no step of parsing blocks the event loop for 50 ms. Strings don't count.
BYTES_FOR_A_NAME = 256
BYTES_FOR_AN_ELEMENT = 64

# Any body may have this many of each: with a small --max-body, the size limit is sufficient.
ALWAYS = 1024


def require_size(raw: bytes, max_body: int) -> None:
    """Raises ApiError if a JSON text has more values than `max_body` (bytes) allows."""
    names, elements = _most(max_body, BYTES_FOR_A_NAME), _most(max_body, BYTES_FOR_AN_ELEMENT)
    # Most bodies are within the limits even if the contents of strings are counted as structure.
    if _within(raw, names, elements):
        return
    # Two strings are separated by at least a colon or a comma.
    outside = _outside_strings(raw, names + elements + 1)
    if outside is not None and _within(outside, names, elements):
        return
    message = f"The request body exceeds the limit of {names} keys, objects and lists, or of {elements} elements."
    raise ApiError(ErrorCode.REQUEST_TOO_LARGE, message)


def most_elements(max_body: int) -> int:
    """Returns the maximum number of elements of a list, which are counted by the commas between them."""
    return _most(max_body, BYTES_FOR_AN_ELEMENT) + 1


def _most(max_body: int, bytes_for_one: int) -> int:
    return max(ALWAYS, max_body // bytes_for_one)


def _outside_strings(raw: bytes, most: int) -> bytes | None:
    """Returns a JSON text without the contents of its strings; None if it has more than `most` strings."""
    # Without escapes, each quote starts or ends a string.
    raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(raw.split(b'"')[::2]) if raw.count(b'"') // 2 <= most else None


def _within(text: bytes, names: int, elements: int) -> bool:
    return _count(text, b":{[") <= names and _count(text, b",") <= elements


def _count(raw: bytes, characters: bytes) -> int:
    return len(raw) - len(raw.translate(None, characters))


# The number of bodies of the maximum size that may be incomplete at a time.
MOST_UNFINISHED = 16

# Bodies up to this size (bytes) are validated on the event loop, which takes a few milliseconds.
SMALL = 1 << 16

# Runs a step of the work on a body, given as a function and its arguments.
Step = Callable[..., Awaitable[Any]]


class Bodies:
    """A reader of request bodies of at most `max_body` bytes each."""

    def __init__(self, max_body: int) -> None:
        self._max_body = max_body
        self._left = MOST_UNFINISHED * max_body
        self._held: dict[asyncio.Timeout, int] = {}  # by reader, the oldest first
        self._turn = asyncio.Lock()

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """Returns the whole body. Raises ApiError if it is too large, and ClientGone.

        If all incomplete bodies together exceed the limit, the one that has taken the longest is dropped: a body that
        is sent at full speed doesn't take long.
        """
        try:
            async with asyncio.timeout(None) as reading:
                self._held[reading] = 0
                try:
                    raw = await read_body(scope, receive, self._max_body, lambda size: self._hold(reading, size))
                finally:
                    self._drop(reading)
        except TimeoutError:
            message = "The request-body buffer is full; this upload, the slowest, was dropped. Retry later."
            raise ApiError(ErrorCode.SERVER_BUSY, message, retry_after=1) from None
        require_size(raw, self._max_body)
        return raw

    @asynccontextmanager
    async def turn(self, size: int) -> AsyncIterator[Step]:
        """Yields a function that runs steps of the work on a body of this size. For large bodies it uses a thread, so
        that the event loop waits for a single native call at most. Large bodies take turns."""
        if size <= SMALL:
            yield _at_once
            return
        async with self._turn:
            yield asyncio.to_thread

    def _hold(self, reading: asyncio.Timeout, size: int) -> None:
        if reading not in self._held:
            return  # already dropped
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
