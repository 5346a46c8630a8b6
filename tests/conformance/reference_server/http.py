"""HTTP: from an ASGI scope to an operation's method, and from what it gives to bytes."""

import asyncio
import hmac
import json
import math
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote

from reference_server.part import Part
from reference_server.refusal import Refusal
from specvino.document.loading import whole
from specvino.document.operations import base_paths
from specvino.generated.errors import ErrorCode

if TYPE_CHECKING:
    from reference_server.server import ReferenceServer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Event = dict[str, Any]
Headers = list[tuple[bytes, bytes]]

# A path that begins with another one comes before it.
BASE_PATHS = sorted(base_paths(whole()), key=len, reverse=True)
LARGEST_BODY = 8_388_608
TOGETHER = 2_000
"""Bytes of events that are sent at once where they take no time."""
SHORT = 32
"""Tokens of an answer that takes no time, where others wait for requests: no check before a case needs more."""


@dataclass(frozen=True, slots=True)
class Stream:
    """Events; `named` where each has its type as the event's name, too; `lines` where each is a line of JSON."""

    events: Iterable[Event]
    named: bool = False
    lines: bool = False
    terminator: str | None = None


@dataclass(slots=True)
class Call:
    """A request on its way. `headers` have small names; `unsupported` are fields that have no effect."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    receive: Receive
    send: Send
    id: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    unsupported: list[str] = field(default_factory=list)
    tokens: int = 0
    """How many the model makes for it."""
    left: "asyncio.Future[None] | None" = None
    """Is done when the client is gone."""

    @property
    def connection(self) -> asyncio.Transport:
        """The connection, which ASGI doesn't have: uvicorn's `receive` is a method of what holds it."""
        transport: asyncio.Transport = self.receive.__self__.transport  # type: ignore[attr-defined]
        return transport


@dataclass(frozen=True, slots=True)
class Route:
    """`does` is the method that answers, of the part that has the route; `root` routes are at the root, too, and `open`
    ones need no key."""

    method: str
    path: str
    does: str
    root: bool = False
    open: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        return _pattern(self.path)


@cache
def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path).replace("(?P<model>[^/]+)", "(?P<model>.+)"))


class Http(Part):
    """Everything but the operations."""

    def __init__(self, server: "ReferenceServer") -> None:
        super().__init__(server)
        self._slot = asyncio.Lock()
        self._coming: asyncio.Future[None] | None = None

    def call(self, scope: Message, receive: Receive, send: Send) -> Call:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        path = scope.get("raw_path") or scope["path"].encode()
        call = Call(scope["method"], unquote(path.decode("latin-1").split("?")[0]), query, headers, receive, send)
        call.id = self.request_id(call)
        return call

    async def serve(self, call: Call) -> None:
        """Answers, whatever happens."""
        if self._coming:
            self._coming.set_result(None)
            self._coming = None
        try:
            if self.is_preflight(call):
                await self.respond(call, 204, b"", self.preflight_headers(call))
                return
            route = self.route(call)
            if not route.open:
                self.authorize(call)
            if call.method == "POST":
                call.body = await self.read(call)
            answer = self.server.routes[route](call)
            call.left = asyncio.ensure_future(self._disconnect(call))
            async with self._slot if self.server.pace and call.tokens else nullcontext():
                await self.answer(call, answer)
        except Refusal as refusal:
            await self.refuse(call, refusal)
        except ConnectionError:
            pass  # the client is gone
        finally:
            if call.left:
                call.left.cancel()

    def now(self) -> int:
        """Unix seconds."""
        return int(time.time())

    def request_id(self, call: Call) -> str:
        sent = call.headers.get("x-request-id", "")
        return sent if re.fullmatch(r"[\x21-\x7e]{1,128}", sent) else f"req_{uuid.uuid4().hex}"

    # Routes and keys

    def route(self, call: Call) -> Route:
        """The operation that is meant. Raises Refusal."""
        path, based = self.without_base(call.path)
        routes = [route for route in self.server.routes if (based or route.root) and route.pattern.fullmatch(path)]
        if not routes:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is nothing at {call.path[:200]}.")
        for route in routes:
            if route.method == call.method:
                match = route.pattern.fullmatch(path)
                call.parameters = match.groupdict() if match else {}
                return route
        return self.wrong_method(call, routes)

    def without_base(self, path: str) -> tuple[str, bool]:
        """The path below a base path, and whether there was one."""
        for base in BASE_PATHS:
            if path.startswith(f"{base}/"):
                return path[len(base) :], True
        return path, False

    def wrong_method(self, call: Call, routes: list[Route]) -> Route:
        allowed = ", ".join(sorted(route.method for route in routes))
        raise Refusal(ErrorCode.METHOD_NOT_ALLOWED, f"{call.path[:200]} takes {allowed}, not {call.method[:20]}.")

    def authorize(self, call: Call) -> None:
        """Raises Refusal where the request hasn't the key."""
        if self.server.key is None:
            return
        if self.is_key(self.server.messages.key(call)):
            return
        scheme, _, key = call.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not self.is_key(key.strip()):
            raise Refusal(ErrorCode.INVALID_API_KEY, "A key is needed, sent as 'Authorization: Bearer KEY'.")

    def is_key(self, key: str) -> bool:
        return self.server.key is None or hmac.compare_digest(key.encode(), self.server.key.encode())

    # Bodies

    async def read(self, call: Call) -> Any:
        """The JSON value of the body; None where there is none. Raises Refusal."""
        content = await self.content(call)
        if not content and call.path.endswith("/cancel"):
            return None
        self.require_media(call)
        if not content.strip():
            raise Refusal(ErrorCode.MISSING_BODY, "The request body is empty, but must be a JSON object.")
        return self.parse(content)

    async def content(self, call: Call) -> bytes:
        """All of it is read, also where it is too large: a client that still sends sees no answer."""
        content, size, more = bytearray(), 0, True
        while more:
            message = await call.receive()
            if message["type"] == "http.disconnect":
                raise ConnectionResetError
            size += len(message.get("body", b""))
            content += message.get("body", b"") if size <= LARGEST_BODY else b""
            more = message.get("more_body", False)
        self.require_size(size)
        return bytes(content)

    def require_size(self, size: int) -> None:
        if size > LARGEST_BODY:
            raise Refusal(ErrorCode.REQUEST_TOO_LARGE, f"The body is larger than {LARGEST_BODY} bytes.")

    def require_media(self, call: Call) -> None:
        media = call.headers.get("content-type", "application/json").split(";")[0].strip().lower()
        if media != "application/json":
            raise Refusal(ErrorCode.UNSUPPORTED_MEDIA_TYPE, f"The content type is {media[:100]!r}, not JSON's.")

    def parse(self, content: bytes) -> Any:
        """Strict JSON: no NaN, no infinity, no lone surrogate, no key twice."""
        try:
            value = json.loads(
                content.decode(),
                parse_constant=self._no_number,
                parse_float=self._finite,
                object_pairs_hook=self.object,
            )
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise Refusal(ErrorCode.INVALID_JSON, f"The request body is not valid JSON: {error}.") from None
        return value

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        query = dict(pairs)
        if len(query) < len(pairs):
            raise ValueError("a key stands twice in one object")
        return query

    def _no_number(self, name: str) -> float:
        raise ValueError(f"{name} is no number")

    def _finite(self, digits: str) -> float:
        value = float(digits)
        return self._no_number(digits[:40]) if value in (float("inf"), float("-inf")) else value

    # Answers

    async def answer(self, call: Call, answer: Any) -> None:
        if isinstance(answer, Stream):
            await self.stream(call, answer)
        else:
            await self.work(call, call.tokens if self.server.pace < math.inf or call.tokens > SHORT else 0)
            await self.respond(call, 200, self.encode(answer), self.json_headers(call))

    async def work(self, call: Call, tokens: int) -> None:
        """Takes the time of some tokens. Raises ConnectionError when the client goes away."""
        pace = self.server.pace
        for seconds in [pace] * tokens if pace == math.inf else [pace * tokens]:
            await self.wait(call, seconds)
            if any(left.done() for left in self.noticed(call)):
                raise ConnectionResetError

    async def wait(self, call: Call, seconds: float) -> None:
        """Waits so long, for the next request if that is without end, or until the client goes away."""
        if seconds == math.inf:
            self._coming = self._coming or asyncio.get_running_loop().create_future()
            await asyncio.wait([self._coming, *self.noticed(call)], return_when=asyncio.FIRST_COMPLETED)
        elif seconds and (noticed := self.noticed(call)):
            await asyncio.wait(noticed, timeout=seconds)
        else:
            await asyncio.sleep(seconds)

    def noticed(self, call: Call) -> "list[asyncio.Future[None]]":
        """What ends an answer before it is complete: that its client goes away."""
        return [call.left] if call.left else []

    def encode(self, value: Any) -> bytes:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def common_headers(self, call: Call) -> Headers:
        """What every answer has."""
        headers = [(b"x-request-id", call.id.encode("latin-1"))]
        if "origin" in call.headers:
            headers += self.origin_headers(call)
        return headers

    def json_headers(self, call: Call) -> Headers:
        return [(b"content-type", b"application/json"), *self.server.requests.unsupported_headers(call)]

    def line_headers(self, call: Call) -> Headers:
        """What a stream of lines has."""
        return [(b"content-type", b"application/x-ndjson"), *self.server.requests.unsupported_headers(call)]

    def stream_headers(self, call: Call) -> Headers:
        return [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-cache"),
            (b"x-accel-buffering", b"no"),
            *self.server.requests.unsupported_headers(call),
        ]

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        sized = headers if status == 204 else [(b"content-length", str(len(body)).encode()), *headers]
        await call.send(
            {"type": "http.response.start", "status": status, "headers": [*sized, *self.common_headers(call)]}
        )
        await call.send({"type": "http.response.body", "body": body})

    async def refuse(self, call: Call, refusal: Refusal) -> None:
        headers: Headers = [(b"content-type", b"application/json"), *self.refusal_headers(refusal)]
        if refusal.code is ErrorCode.METHOD_NOT_ALLOWED:
            headers.append((b"allow", self.allowed(call).encode()))
        await self.respond(call, self.status(refusal), self.encode(self.error(call, refusal)), headers)

    def error(self, call: Call, refusal: Refusal) -> dict[str, Any]:
        """The body of an error, of which some operations have a form of their own."""
        if self.server.messages.has_own_errors(call.path):
            return self.server.messages.refused(call, refusal)
        if self.server.ollama.has_own_errors(call.path):
            return self.server.ollama.refused(refusal)
        return self.envelope(refusal)

    def status(self, refusal: Refusal) -> int:
        return refusal.status

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": refusal.error}

    def refusal_headers(self, refusal: Refusal) -> Headers:
        if refusal.code is ErrorCode.INVALID_API_KEY:
            return [(b"www-authenticate", b"Bearer")]
        return []

    def allowed(self, call: Call) -> str:
        """The methods that a path takes."""
        path, _ = self.without_base(call.path)
        return ", ".join(sorted({route.method for route in self.server.routes if route.pattern.fullmatch(path)}))

    # Streams

    async def stream(self, call: Call, stream: Stream) -> None:
        """Sends events as they are made, for as long as the client is there."""
        headers = self.line_headers(call) if stream.lines else self.stream_headers(call)
        await call.send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [*headers, *self.common_headers(call)],
            }
        )
        ready = b""
        for event in stream.events:
            await self.work(call, 1)
            ready += self.line(event) if stream.lines else self.frame(stream, event)
            if self.is_due(ready):
                await call.send({"type": "http.response.body", "body": ready, "more_body": True})
                ready = b""
        end = self.after_lines() if stream.lines else self.end(stream)
        await call.send({"type": "http.response.body", "body": ready + end})

    def is_due(self, ready: bytes) -> bool:
        """Whether events are to be sent."""
        return bool(self.server.pace) or len(ready) > TOGETHER

    def line(self, event: Event) -> bytes:
        """The bytes of one event of a stream of lines."""
        return self.encode(event) + b"\n"

    def after_lines(self) -> bytes:
        """What comes after the last line."""
        return b""

    def frame(self, stream: Stream, event: Event) -> bytes:
        """The bytes of one event."""
        name = self.event_name(event) if stream.named else None
        return (f"event: {name}\n".encode() if name else b"") + b"data: " + self.encode(event) + b"\n\n"

    def event_name(self, event: Event) -> str:
        return str(event["type"])

    def end(self, stream: Stream) -> bytes:
        """What comes after the last event."""
        return b"" if stream.terminator is None else f"data: {stream.terminator}\n\n".encode()

    async def _disconnect(self, call: Call) -> None:
        while (await call.receive())["type"] != "http.disconnect":
            pass

    # Other origins

    def is_preflight(self, call: Call) -> bool:
        return call.method == "OPTIONS" and "origin" in call.headers and "access-control-request-method" in call.headers

    def preflight_headers(self, call: Call) -> Headers:
        return [
            (b"access-control-allow-methods", b"GET, POST, DELETE, OPTIONS"),
            (b"access-control-allow-headers", self.allowed_headers(call).encode("latin-1")),
            (b"access-control-max-age", b"600"),
        ]

    def allowed_headers(self, call: Call) -> str:
        """All that a browser asks for: a star would leave Authorization out."""
        return call.headers.get("access-control-request-headers", "")

    def origin_headers(self, call: Call) -> Headers:
        return [
            (b"access-control-allow-origin", b"*"),
            (b"access-control-expose-headers", b"x-request-id, x-unsupported-params"),
        ]
