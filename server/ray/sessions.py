"""Session affinity: requests of a conversation go to the same replica, whose cache has the beginning of their prompt.

Ray's consistent-hash router reads the header `x-session-id`. If the client doesn't send it, it is derived from the
request.
"""

import hashlib
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-session-id"

# Larger bodies (bytes) aren't read here: the proxy would hold them twice.
LARGEST = 1 << 20


class _Body(msgspec.Struct):
    """The fields of a request's body that identify its conversation."""

    prompt_cache_key: Any = None
    session_id: Any = None
    previous_response_id: Any = None
    messages: Any = None
    input: Any = None
    instructions: Any = None
    tools: Any = None


_read = msgspec.json.Decoder(_Body).decode


class Sessions:
    """ASGI middleware that adds the header if the conversation of a request can be identified."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or HEADER in dict(scope["headers"]):
            await self.app(scope, receive, send)
            return
        messages, body = await _begin(receive)
        if body is not None and (session := session_of(body)):
            scope = {**scope, "headers": [*scope["headers"], (HEADER, session.encode())]}

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        await self.app(scope, again, send)


async def _begin(receive: Receive) -> tuple[list[Message], bytes | None]:
    """Returns the messages received, and the body if they contain all of it."""
    messages: list[Message] = []
    body = bytearray()
    while len(body) <= LARGEST:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request":
            return messages, None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return messages, bytes(body)
    return messages, None


def session_of(body: bytes) -> str | None:
    """Returns an ID of a request's conversation: a digest of its `prompt_cache_key` or `session_id`, or else of what
    stays the same as the conversation grows, up to the first user message. None if the body can't be parsed,
    isn't a conversation, or continues a stored response, whose beginning it doesn't contain."""
    try:
        request = _read(body)
    except (msgspec.DecodeError, ValueError, RecursionError):  # the replica reports the error
        return None
    for name in (request.prompt_cache_key, request.session_id):
        if isinstance(name, str) and name:
            return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
    items = request.messages or request.input
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not isinstance(items, list) or request.previous_response_id is not None:
        return None
    first = []
    for item in items:
        first.append(item)
        if isinstance(item, dict) and item.get("role") == "user":
            break
    known = [request.instructions, request.tools, first]
    return hashlib.sha256(msgspec.json.encode(known, order="sorted")).hexdigest()[:32]
