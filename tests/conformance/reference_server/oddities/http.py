"""What servers may do on HTTP, with errors and with the framing of streams."""

import gzip
import json
from typing import Any, ClassVar

from reference_server.http import Call, Event, Headers, Http, Route, Stream
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode


class RefusesUnread(Http):
    """A large body is refused with 413, unread and before anything else is checked."""

    def route(self, call: Call) -> Route:
        if int(call.headers.get("content-length", 0)) > 20_000:
            raise Refusal(ErrorCode.REQUEST_TOO_LARGE, "The body is too long: it has more than 20000 bytes.")
        return super().route(call)


class GuessesCharacters(Http):
    """Bytes that aren't UTF-8 are read as some character."""

    advised: ClassVar = True

    def parse(self, content: bytes) -> Any:
        return super().parse(content.decode("utf-8", "replace").encode())


class ListsChoicesBackwards(Http):
    """The choices of an answer are listed from the last index to the first."""

    def encode(self, value: Any) -> bytes:
        if isinstance(value, dict) and "choices" in value:
            value = {**value, "choices": value["choices"][::-1]}
        return super().encode(value)


class RefusesMethodsWithoutBody(Http):
    """The refusal of a method that a path doesn't have is empty, as HTTP allows."""

    advised: ClassVar = True

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        if status == 405:
            body, headers = b"", [header for header in headers if header[0] != b"content-type"]
        await super().respond(call, status, body, headers)


class ClosesAfterUnreadBodies(Http):
    """A connection whose request wasn't read to its end is closed, and no header says so."""

    advised: ClassVar = True

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, body, headers)
        if call.method == "POST" and call.body is None:
            call.connection.close()


class UnknownResponsesAre400(Http):
    """An unknown response is refused with 400."""

    advised: ClassVar = True

    def status(self, refusal: Refusal) -> int:
        return 400 if refusal.code is ErrorCode.RESPONSE_NOT_FOUND else refusal.status


class RefusesWith422(Http):
    """A wrong value is refused with 422, which OpenAI's document doesn't have."""

    advised: ClassVar = True

    def status(self, refusal: Refusal) -> int:
        return 422 if refusal.status == 400 else refusal.status


class RefusesKeysWith403(Http):
    """A wrong key is refused with 403."""

    advised: ClassVar = True

    def status(self, refusal: Refusal) -> int:
        return 403 if refusal.status == 401 else refusal.status


class ClosesConnections(Http):
    """Each connection accepts one request, and says so."""

    advised: ClassVar = True

    def common_headers(self, call: Call) -> Headers:
        return [*super().common_headers(call), (b"connection", b"close")]


class Comments(Http):
    """Comments come between the events of a stream, as some proxies need them."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return b": still here\n\n" + super().frame(stream, event)


class CarriageReturns(Http):
    """The lines of a stream end in CR alone, one of three line ends of server-sent events."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"\n", b"\r")

    def end(self, stream: Stream) -> bytes:
        return super().end(stream).replace(b"\n", b"\r")


class CarriageReturnsAndLineFeeds(Http):
    """The lines of a stream end in CR and LF."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"\n", b"\r\n")

    def end(self, stream: Stream) -> bytes:
        return super().end(stream).replace(b"\n", b"\r\n")


class NumbersItsEvents(Http):
    """Events have ids, and a retry time."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return b"id: 7\nretry: 1000\n" + super().frame(stream, event)


class DataWithoutSpaces(Http):
    """No space follows the field names of an event."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"data: ", b"data:").replace(b"event: ", b"event:")


class SplitData(Http):
    """An event's JSON comes in several data lines."""

    def frame(self, stream: Stream, event: Event) -> bytes:
        return super().frame(stream, event).replace(b"data: {", b"data: {\ndata: ", 1)


class Compressed(Http):
    """Answers are compressed, which the client accepts."""

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, gzip.compress(body), [(b"content-encoding", b"gzip"), *headers])


class CompressedInMembers(Http):
    """Answers and streams are compressed, in several members of gzip."""

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        middle = len(body) // 2
        members = gzip.compress(body[:middle]) + gzip.compress(body[middle:])
        await super().respond(call, status, members, [(b"content-encoding", b"gzip"), *headers])

    def stream_headers(self, call: Call) -> Headers:
        return [(b"content-encoding", b"gzip"), *super().stream_headers(call)]

    def frame(self, stream: Stream, event: Event) -> bytes:
        return gzip.compress(super().frame(stream, event))

    def end(self, stream: Stream) -> bytes:
        return gzip.compress(super().end(stream))


class CodesNothing(RefusesMethodsWithoutBody):
    """An answer without content, also to a wrong method, names a content coding that wasn't asked for."""

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        coding = [(b"content-encoding", b"br")] if status in (204, 405) else []
        await super().respond(call, status, body, [*coding, *headers])


class BlankBeforeJson(Http):
    """White space surrounds an answer's JSON, as from servers that send it to keep a proxy waiting."""

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, b" \n " + body + b"\n", headers)


class ErrorsNameNoField(Http):
    """The param of every error is null."""

    advised: ClassVar = True

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": {**refusal.error, "param": None}}


class ErrorsWithoutCodes(Http):
    """The code of every error is null."""

    advised: ClassVar = True

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": {**refusal.error, "code": None}}


class ErrorsOfItsOwn(Http):
    """Errors have types and codes of the server's own, and additional fields."""

    advised: ClassVar = True

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": {**refusal.error, "type": "odd_error", "code": None, "hint": "try again"}, "request": 7}


class ManyHeaders(Http):
    """Answers have headers for proxies, limits and times."""

    def common_headers(self, call: Call) -> Headers:
        headers = {
            "via": "1.1 odd",
            "x-ratelimit-remaining-requests": "59",
            "server-timing": "db;dur=5",
            "alt-svc": "clear",
        }
        return [*super().common_headers(call), *((name.encode(), value.encode()) for name, value in headers.items())]


class NamesCharset(Http):
    """Content types have a charset."""

    def json_headers(self, call: Call) -> Headers:
        return [(b"content-type", b"application/json; charset=utf-8"), *super().json_headers(call)[1:]]

    def stream_headers(self, call: Call) -> Headers:
        return [(b"content-type", b"text/event-stream; charset=utf-8"), *super().stream_headers(call)[1:]]


class EscapesAll(Http):
    """JSON is indented, and escapes everything outside of ASCII."""

    def encode(self, value: Any) -> bytes:
        return json.dumps(value, separators=(" , ", " : ")).encode()
