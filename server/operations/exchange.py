"""An HTTP exchange: its id, which is the client's X-Request-Id or a new one, and what is known of it at its end."""

import re
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specvino.document.loading import whole
from specvino.document.operations import base_paths
from specvino.generated.handlers import Operation
from specvino.handlers.measuring import GenerationRecord

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


CLIENT_LEFT = 499
"""Stands for the status of an exchange whose client left before there was one, as in nginx's logs."""


@dataclass(slots=True)
class Exchange:
    """One request and its answer. `seconds` are those until its last byte, or until the client left: then it isn't
    `complete`.

    `error` is the code of its error, and `notes` are what its handler noted. `began` is in nanoseconds since the epoch.
    """

    request_id: str
    client: str
    method: str
    path: str
    headers: Mapping[str, str]
    began: int
    status: int = CLIENT_LEFT
    seconds: float = 0.0
    complete: bool = False
    operation: Operation | None = None
    error: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def generation(self) -> GenerationRecord | None:
        """What was measured of its generation, if it had one that has ended."""
        return self.notes.get("generation")

    @property
    def model(self) -> str | None:
        """The model that was found for it."""
        return self.notes.get("model")

    @property
    def route(self) -> str | None:
        """The path as the document has it (`/v1/responses/{response_id}`); None for those that it doesn't have."""
        if self.operation is None:
            return None
        bases = sorted(base_paths(whole()), key=len, reverse=True)
        return next((base for base in bases if self.path.startswith(f"{base}/")), "") + self.operation.path


Recorder = Callable[[Exchange], None]
"""Is told of each exchange at its end. It must be quick, and must not raise."""


def exchange_of(scope: Scope) -> Exchange:
    """Returns the exchange that a scope belongs to."""
    exchange: Exchange = scope["state"]["exchange"]
    return exchange


class Exchanges:
    """Is ASGI middleware, just below the one that gives ids: it tells the recorders of each exchange."""

    def __init__(self, app: ASGIApp, recorders: Sequence[Recorder] = ()) -> None:
        self.app = app
        self._recorders = recorders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        exchange = scope["state"]["exchange"] = Exchange(
            request_id=scope["state"]["request_id"],
            client=":".join(map(str, scope.get("client") or ())),
            method=scope["method"],
            path=scope["path"],
            headers={name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
            began=time.time_ns(),
        )
        began = time.perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await send(message)
            # A client that left is known by the answer that was not made to its end.
            exchange.complete = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self.app(scope, receive, noted)
        finally:
            exchange.seconds = time.perf_counter() - began
            for recorder in self._recorders:
                recorder(exchange)
