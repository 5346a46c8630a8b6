"""Which requests belong to one conversation: they go to one replica, whose cache has the beginning of their prompt.

Ray's consistent-hash router reads the header `x-session-id`. Where a client sends none it is made of the request.
"""

import hashlib
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-session-id"

# A body that is larger (bytes) isn't read here: the proxy would hold all of it twice.
LARGEST = 1 << 20


class _Asked(msgspec.Struct):
    """What tells conversations apart, of a request's body."""

    prompt_cache_key: Any = None
    session_id: Any = None
    previous_response_id: Any = None
    messages: Any = None
    input: Any = None
    instructions: Any = None
    tools: Any = None


_read = msgspec.json.Decoder(_Asked).decode


class Sessions:
    """Is ASGI middleware that gives a request the header, if it is known what it belongs to."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or HEADER in dict(scope["headers"]):
            await self.app(scope, receive, send)
            return
        came, body = await _begin(receive)
        if body is not None and (session := session_of(body)):
            scope = {**scope, "headers": [*scope["headers"], (HEADER, session.encode())]}

        async def again() -> Message:
            return came.pop(0) if came else await receive()

        await self.app(scope, again, send)


async def _begin(receive: Receive) -> tuple[list[Message], bytes | None]:
    """Returns the messages that came, and the body if they hold all of it."""
    came: list[Message] = []
    body = bytearray()
    while len(body) <= LARGEST:
        message = await receive()
        came.append(message)
        if message["type"] != "http.request":
            return came, None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return came, bytes(body)
    return came, None


def session_of(body: bytes) -> str | None:
    """Returns what names the conversation of a request: its `prompt_cache_key` or `session_id`, else a digest of what
    stays as a conversation grows, which is all up to its first answer. None where the body can't be read, is no
    conversation, or goes on from a stored response: its beginning isn't in it."""
    try:
        asked = _read(body)
    except (msgspec.DecodeError, ValueError, RecursionError):  # the replica says what is wrong
        return None
    for name in (asked.prompt_cache_key, asked.session_id):
        if isinstance(name, str) and name:
            return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
    items = asked.messages or asked.input
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not isinstance(items, list) or asked.previous_response_id is not None:
        return None
    first = []
    for item in items:
        first.append(item)
        if isinstance(item, dict) and item.get("role") == "user":
            break
    known = [asked.instructions, asked.tools, first]
    return hashlib.sha256(msgspec.json.encode(known, order="sorted")).hexdigest()[:32]
