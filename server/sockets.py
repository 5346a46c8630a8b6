"""WebSockets: each message is a request for a stream, and the stream's events are messages (decision 077).

A message goes through the whole app as an HTTP request would, so that keys, limits, validation, logs and metrics are
the same. A connection adds lanes, and the responses that it remembers (`handlers.responses.session`).
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specvino.document.loading import whole
from specvino.document.operations import Operation, operations
from specvino.generated.errors import ERRORS, ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.session import Session, Turn
from specvino.server.access import EVERY, BearerKeys, require_host
from specvino.server.operations import errors
from specvino.server.operations.exchange import new_request_id
from specvino.server.operations.routes import below_base
from specvino.server.settings import Settings
from specvino.server.validation.bodies import SMALL, require_size, too_large
from specvino.server.validation.parsing import parse_json
from specvino.server.validation.schema import SchemaCheck

# The most requests of a connection that aren't answered yet. The next message is read when there are fewer, and when
# they have no more bytes together than a body may have.
UNANSWERED = 32

BUSY = "websocket_busy"
"""In the state of a connection's scope: what is called with whether a request is being answered."""

# Headers of the handshake that don't belong to a request on the connection.
_OF_HANDSHAKE = (b"connection", b"upgrade", b"origin", b"content-type", b"content-length", b"x-request-id")

# The fields of a message that aren't the body's.
_OF_MESSAGE = ("type", "generate", "stream_id", "stream", "background")

# The beginnings of the names of headers that the client gets, of an error and of a response.
_OF_ERROR = ("retry-after", "x-request-id", "x-ratelimit-")
_OF_RESPONSE = ("x-unsupported-params", "x-ratelimit-")

_encode = msgspec.json.encode


class Sockets:
    """ASGI middleware around the app that accepts WebSockets at the paths that the document says (`x-websocket`)."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self._settings = settings
        self._keys = BearerKeys(settings.keys) if settings.keys else None
        document = settings.system.document if settings.system else whole()
        self._operations = {
            operation.path: operation for operation in operations(document) if "x-websocket" in operation.definition
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {})
        await receive()  # websocket.connect
        try:
            operation = self._admitted(scope)
        except ApiError as error:
            errors.logger.info("WebSocket from %s:%d refused: %s", *(scope.get("client") or ("-", 0)), error.message)
            await _refuse(send, error)
            return
        await send({"type": "websocket.accept"})
        await _Connection(self.app, scope, receive, send, operation, self._settings.max_body).run()

    def _admitted(self, scope: Scope) -> Operation:
        """Returns the operation at the path. Raises ApiError if the connection isn't allowed."""
        connection = HTTPConnection(scope)
        require_host(scope, self._settings.hosts)
        host, origin = connection.headers.get("host", ""), connection.headers.get("origin")
        # Browsers let every page open a WebSocket to every server.
        if origin is not None and not self._is_allowed(origin.lower(), host.lower()):
            message = f"Web pages of {origin[:200]!r} can't open a WebSocket to this server."
            raise ApiError(ErrorCode.ORIGIN_NOT_ALLOWED, message)
        operation = self._operations.get(below_base(scope["path"]))
        if operation is None:
            raise ApiError(ErrorCode.NOT_FOUND, f"There is no WebSocket at the path {scope['path'][:200]}.")
        if self._keys:
            self._keys.check(connection)
        return operation

    def _is_allowed(self, origin: str, host: str) -> bool:
        return bool(self._settings.origins & {origin, EVERY}) or origin.partition("://")[2] == host


async def _refuse(send: Send, error: ApiError) -> None:
    body = _encode(error.body())
    fields = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "x-request-id": new_request_id(),
        **errors.headers(error),
    }
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "websocket.http.response.start", "status": error.kind.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


class _Connection:
    """An open WebSocket. Requests of one lane are answered one after the other."""

    def __init__(
        self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, operation: Operation, max_body: int
    ) -> None:
        self._app = app
        self._max_body = max_body
        self._scope = scope
        self._receive = receive
        self._send = send
        component = operation.definition["x-websocket"]["request"]["$ref"].rpartition("/")[2]
        self._check = SchemaCheck.of_component(component)
        self._session = Session()
        self._lanes: dict[str | None, asyncio.Event] = {}  # by lane, the end of its last request
        self._reading = asyncio.Lock()
        self._tasks: dict[asyncio.Task[None], int] = {}  # with the bytes of their messages
        self._fewer = asyncio.Event()
        self._busy: Callable[[bool], None] = scope["state"].get(BUSY, lambda _: None)

    async def run(self) -> None:
        """Answers messages until the client closes the connection; then it cancels what is unanswered."""
        self._busy(False)
        try:
            while True:
                while len(self._tasks) >= UNANSWERED or sum(self._tasks.values()) > self._max_body:
                    self._fewer.clear()
                    await self._fewer.wait()
                message = await self._receive()
                if message["type"] == "websocket.disconnect":
                    return
                self._busy(True)
                raw = (message.get("text") or "").encode() or message.get("bytes") or b""
                task = asyncio.create_task(self._answer(raw))
                self._tasks[task] = len(raw)
                task.add_done_callback(self._answered)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _answered(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._fewer.set()
        if not self._tasks:
            self._busy(False)
            self._lanes.clear()

    async def _answer(self, raw: bytes) -> None:
        try:
            await self._answer_message(raw)
        except Exception:
            error = errors.internal_error(new_request_id())
            await self.send_error(error.kind.status, error.body()["error"], {}, None)

    async def _answer_message(self, raw: bytes) -> None:
        async with self._reading:  # a large message must not be overtaken
            lane, event, error = await self._read(raw)
            before, done = self._lanes.get(lane), asyncio.Event()
            self._lanes[lane] = done
        try:
            if before:
                await before.wait()
            if error:
                await self.send_error(error.kind.status, error.body()["error"], errors.headers(error), lane)
                return
            turn = Turn(self._session, event.get("generate") is not False)
            body = {name: value for name, value in event.items() if name not in _OF_MESSAGE}
            # msgspec encodes no integers of more than 64 bits, which the validation refuses.
            await self._exchange(json.dumps({**body, "stream": True}).encode(), turn, lane)
        finally:
            done.set()

    async def _read(self, raw: bytes) -> tuple[str | None, dict[str, Any], ApiError | None]:
        """Returns the lane of a message, its fields, and the error if it is invalid."""
        event: Any = None
        try:
            if len(raw) > self._max_body:
                raise too_large(self._max_body)
            require_size(raw, self._max_body)
            event = parse_json(raw) if len(raw) <= SMALL else await asyncio.to_thread(parse_json, raw)
            self._check.require(event)
        except ApiError as error:
            lane = event.get("stream_id") if isinstance(event, dict) else None
            return lane if self._check.fits({"type": "response.create", "stream_id": lane}) else None, {}, error
        return event.get("stream_id"), event, None

    async def _exchange(self, body: bytes, turn: Turn, lane: str | None) -> None:
        """Sends a request through the app, and its answer to the client."""
        parts = iter([{"type": "http.request", "body": body, "more_body": False}])
        answer = _Answer(self, lane)

        async def receive() -> Message:
            if (part := next(parts, None)) is not None:
                return part
            await asyncio.Event().wait()  # a client that leaves cancels this task
            raise AssertionError

        await self._app(self._request(turn), receive, answer.take)

    def _request(self, turn: Turn) -> Scope:
        kept = [field for field in self._scope["headers"] if not _is_of_handshake(field[0])]
        shared = ("asgi", "http_version", "path", "raw_path", "root_path", "client", "server")
        return {
            **{name: self._scope[name] for name in shared if name in self._scope},
            "type": "http",
            "method": "POST",
            "scheme": "https" if self._scope.get("scheme") == "wss" else "http",
            "query_string": b"",
            "headers": [*kept, (b"content-type", b"application/json")],
            "state": {**self._scope["state"], "turn": turn},
            "extensions": {},
        }

    async def send_event(self, event: bytes) -> None:
        """Sends an event, or nothing to a client that has gone: `run` then ends what is unanswered."""
        with suppress(OSError):
            await self._send({"type": "websocket.send", "text": event.decode()})

    async def send_error(
        self,
        status: int,
        error: Mapping[str, Any],
        headers: Mapping[str, str],
        lane: str | None,
        number: int | None = None,
    ) -> None:
        """Sends the end of a request that failed, after the event `number` - 1 of its response."""
        fields = {"type": "error", "status": status, "error": {**error, **({"headers": headers} if headers else {})}}
        optional = {"sequence_number": number, "stream_id": lane}
        await self.send_event(_encode(fields | {name: value for name, value in optional.items() if value is not None}))


class _Answer:
    """The answer to one request: the ASGI messages of a stream, or of an error, become messages for the client."""

    def __init__(self, connection: _Connection, lane: str | None) -> None:
        self._connection = connection
        self._lane = lane
        self._status = 200
        self._headers: dict[str, str] = {}
        self._rest = b""

    async def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in message["headers"]}
            return
        self._rest += message.get("body", b"")
        if self._status >= 400:
            if not message.get("more_body", False):
                error = msgspec.json.decode(self._rest)["error"]
                await self._connection.send_error(self._status, error, self._shown(_OF_ERROR), self._lane)
            return
        *frames, self._rest = self._rest.split(b"\n\n")
        for frame in frames:
            await self._pass_on(frame.rpartition(b"data: ")[2])

    async def _pass_on(self, data: bytes) -> None:
        event = msgspec.json.decode(data)
        if event["type"] == "error":
            kind = ERRORS.get(event["code"], ERRORS[ErrorCode.INTERNAL_ERROR])
            error = {name: event[name] for name in ("code", "message", "param")} | {"type": kind.type.value}
            await self._connection.send_error(kind.status, error, {}, self._lane, event["sequence_number"])
            return
        if event["type"] == "response.created" and (shown := self._shown(_OF_RESPONSE)):
            event["headers"] = shown
        if self._lane is not None:
            event["stream_id"] = self._lane
        await self._connection.send_event(_encode(event))

    def _shown(self, beginnings: tuple[str, ...]) -> dict[str, str]:
        return {name: value for name, value in self._headers.items() if name.startswith(beginnings)}


def _is_of_handshake(name: bytes) -> bool:
    return name in _OF_HANDSHAKE or name.startswith(b"sec-websocket-")
