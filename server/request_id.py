"""Gives every exchange an id: the client's X-Request-Id or a new one, echoed in the answer."""

import re
import uuid
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = b"x-request-id"

# What may stand in a header and a log line as it is.
_ACCEPTED = re.compile(rb"[\x21-\x7e]{1,128}")


def new_request_id() -> str:
    """Returns an id that no other request has."""
    return f"req_{uuid.uuid4().hex}"


def request_id_of(scope: Scope) -> bytes:
    """Returns the client's id of a request where it can stand in a log line, else a new one."""
    given = (value for name, value in scope["headers"] if name == HEADER and _ACCEPTED.fullmatch(value))
    return next(given, None) or new_request_id().encode()


class RequestId:
    """Is ASGI middleware; the id is in scope["state"]["request_id"]."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = request_id_of(scope)
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id.decode("ascii")

        async def tagged(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (HEADER, request_id)]
            await send(message)

        await self.app(scope, receive, tagged)
