"""An HTTP exchange: its ID, which is the client's X-Request-Id or a new one, and the record of it for telemetry."""

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
from specvino.handlers.allowance import Allowance
from specvino.handlers.measuring import GenerationRecord

HEADER = b"x-request-id"

# Characters that are safe in a header and in a log line.
_ACCEPTED = re.compile(rb"[\x21-\x7e]{1,128}")


def new_request_id() -> str:
    """Returns a unique request ID."""
    return f"req_{uuid.uuid4().hex}"


def request_id_of(scope: Scope) -> bytes:
    """Returns the client's ID of a request if it is safe in a log line, else a new one."""
    ids = (value for name, value in scope["headers"] if name == HEADER and _ACCEPTED.fullmatch(value))
    return next(ids, None) or new_request_id().encode()


class RequestId:
    """ASGI middleware that puts the ID into scope["state"]["request_id"] and into the response."""

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
"""The status of an exchange whose client disconnected before the response started, as in nginx's logs."""


@dataclass(slots=True)
class Exchange:
    """One request and its response.

    `seconds` is the time until the last byte, or until the client disconnected: then it isn't `complete`. `error` is an
    error code, `notes` is what the handler recorded, and `began` is in nanoseconds since the epoch.
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
    allowance: Allowance | None = None
    error: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def generation(self) -> GenerationRecord | None:
        """The record of its generation, if there was one and it has ended."""
        return self.notes.get("generation")

    @property
    def model(self) -> str | None:
        """The name of the model that handled it."""
        return self.notes.get("model")

    @property
    def route(self) -> str | None:
        """The path as the document has it (`/v1/responses/{response_id}`); None for unknown paths."""
        if self.operation is None:
            return None
        bases = sorted(base_paths(whole()), key=len, reverse=True)
        return next((base for base in bases if self.path.startswith(f"{base}/")), "") + self.operation.path


Recorder = Callable[[Exchange], None]
"""Called with each exchange at its end. It must be fast, and must not raise."""


def exchange_of(scope: Scope) -> Exchange:
    """Returns the exchange of an ASGI scope."""
    exchange: Exchange = scope["state"]["exchange"]
    return exchange


class Exchanges:
    """ASGI middleware directly inside RequestId that calls the recorders with each exchange."""

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
                if exchange.allowance:
                    message["headers"] = [*message["headers"], *exchange.allowance.headers()]
            await send(message)
            # After a disconnect, the last part of the response isn't sent.
            exchange.complete = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self.app(scope, receive, noted)
        finally:
            exchange.seconds = time.perf_counter() - began
            for recorder in self._recorders:
                recorder(exchange)
