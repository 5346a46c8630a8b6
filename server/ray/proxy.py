"""Middleware for Ray's proxies: Ray's own errors get the API's format, and a stream whose replica was lost ends as the
document defines.

Each proxy imports `middlewares` by the name in the environment variable CALLBACK.
"""

import logging

import msgspec
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specvino.document.operations import FRAMINGS
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import Operation
from specvino.handlers.errors import ApiError
from specvino.server.operations import errors
from specvino.server.operations.exchange import HEADER, request_id_of
from specvino.server.operations.routes import operation_at
from specvino.server.ray.sessions import Sessions

CALLBACK = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"

_STREAMS = tuple({media.encode() for media in FRAMINGS.values()})
_JSON = b"application/json"

logger = logging.getLogger("specvino.server")


def middlewares() -> list[Middleware]:
    """Returns the middleware around each proxy's app, the innermost first."""
    return [Middleware(Sessions), Middleware(OneEnvelope)]


class OneEnvelope:
    """ASGI middleware that converts Ray's errors. Errors of replicas are JSON; all others are Ray's."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        id = request_id_of(scope)  # otherwise Ray would set one of its own
        scope = {**scope, "headers": [*(field for field in scope["headers"] if field[0] != HEADER), (HEADER, id)]}
        answer = _Answer(scope, send, id)
        try:
            await self.app(scope, receive, answer.pass_on)
        except Exception:
            logger.exception("proxy error on %s %s", scope["method"], scope["path"])
        await answer.end()


class _Answer:
    """One response on its way from a replica to the client."""

    def __init__(self, scope: Scope, send: Send, id: bytes) -> None:
        self._scope = scope
        self._send = send
        self._id = id
        self._headers: dict[bytes, bytes] = {}
        self._refusal: Message | None = None
        self._streams = False
        self._begun = False
        self._complete = False
        self._events = 0

    async def pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            # As a dict: Ray adds the request's ID, which the replica's response already has.
            self._headers = dict(message["headers"])
            media = self._headers.get(b"content-type", b"")
            if message["status"] >= 400 and not media.startswith(_JSON):
                self._refusal = message
                return
            self._begun, self._streams = True, media.startswith(_STREAMS)
            message = {**message, "headers": list(self._headers.items())}
        elif self._refusal is not None:
            return
        else:
            self._events += message.get("body", b"").count(b"\n\n")
            self._complete = not message.get("more_body", False)
        await self._send(message)

    @property
    def _operation(self) -> Operation | None:
        return operation_at(self._scope["method"], self._scope["path"])

    async def end(self) -> None:
        """Sends what Ray omits: a response if there was none, and the end of a stream."""
        if self._refusal is not None:
            await self._refuse(_of_ray(self._refusal))
        elif not self._begun:
            await self._refuse(_lost())
        elif self._streams and not self._complete:
            last = _last(self._operation, self._events, self._id.decode())
            await self._send({"type": "http.response.body", "body": last})

    async def _refuse(self, error: ApiError) -> None:
        fields = {"content-type": "application/json", "x-request-id": self._id.decode(), **errors.headers(error)}
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in fields.items()]
        body = errors.body_of(error, self._operation, self._id.decode())
        await self._send({"type": "http.response.start", "status": error.kind.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": msgspec.json.encode(body)})


def _of_ray(message: Message) -> ApiError:
    """Returns the error for a response of Ray's proxy."""
    match message["status"]:
        case 429:
            return ApiError(ErrorCode.RATE_LIMIT_EXCEEDED, "All replicas are busy.", retry_after=1)
        case 408:
            return ApiError(ErrorCode.REQUEST_TIMEOUT, "The request took longer than Ray Serve allows.")
        case _:  # including 404: the application doesn't exist yet, or is being deleted
            return ApiError(ErrorCode.ENGINE_UNAVAILABLE, "No replica is available.", retry_after=1)


def _lost() -> ApiError:
    return ApiError(ErrorCode.ENGINE_RESTARTED, "The replica that worked on this request was lost.", retry_after=1)


def _last(operation: Operation | None, events: int, request_id: str) -> bytes:
    """Returns the end of a stream whose replica was lost after so many events."""
    terminator = operation.terminator if operation is not None else None
    end = f"data: {terminator}\n\n".encode() if terminator is not None else b""
    return errors.event_of(_lost(), operation, request_id, events) + end
