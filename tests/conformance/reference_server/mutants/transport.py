"""HTTP gone wrong: bodies, media types, errors, keys, other origins, ids and paths."""

import json
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from reference_server.http import Call, Headers, Http, Message, Receive, Route, Send
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from specvino.generated.errors import ErrorCode

# Bodies


class FailsOnBadJson(Http):
    """What is no JSON makes the server fail."""

    breaks = {
        "transport/bodies/broken",
        "transport/bodies/deep*",
        "transport/bodies/huge-integer",
        "transport/bodies/infinite",
        "transport/bodies/lone-surrogate*",
        "transport/bodies/no-text",
        "transport/bodies/not-a-number",
        "transport/bodies/same-key-twice",
    }

    def status(self, refusal: Refusal) -> int:
        return 500 if refusal.code is ErrorCode.INVALID_JSON else super().status(refusal)


class FailsOnEmptyBody(Http):
    """An empty body makes the server fail."""

    breaks = {"transport/bodies/empty"}

    def status(self, refusal: Refusal) -> int:
        return 500 if refusal.code is ErrorCode.MISSING_BODY else super().status(refusal)


class TrustsTheBody(Requests):
    """Nobody looks whether the body is an object before its fields are read."""

    breaks = {"transport/bodies/no-object", "transport/bodies/null", "transport/rules/no-server-error"}

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        call.body.get("model")
        return super().accepted(call, component)


class LenientJson(Http):
    """The parser takes NaN, infinity, half characters, keys twice and bytes that are no text."""

    breaks = {
        "transport/bodies/infinite",
        "transport/bodies/lone-surrogate-refused",
        "transport/bodies/no-text",
        "transport/bodies/not-a-number",
        "transport/bodies/same-key-twice",
    }

    def parse(self, content: bytes) -> Any:
        try:
            value = json.loads(content.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            raise Refusal(ErrorCode.INVALID_JSON, "The request body is not JSON.") from None
        if isinstance(value, dict) and str(value.get("temperature")) in ("nan", "inf"):
            value["temperature"] = 2
        return value


class FailsOnZeroByte(Http):
    """Texts end at a zero byte somewhere, and the rest is missed."""

    breaks = {"transport/bodies/zero-byte"}

    def parse(self, content: bytes) -> Any:
        assert b"\\u0000" not in content
        return super().parse(content)


class FailsOnLargeBody(Http):
    """A large body makes the server fail."""

    breaks = {"transport/bodies/too-large"}

    def require_size(self, size: int) -> None:
        assert size <= 8_388_608


# Media types


class ComparesWholeMediaType(Http):
    """The content type is compared with its parameters, letter by letter."""

    breaks = {"transport/media/charset", "transport/media/capitals"}

    def require_media(self, call: Call) -> None:
        if call.headers.get("content-type", "application/json") != "application/json":
            raise Refusal(ErrorCode.UNSUPPORTED_MEDIA_TYPE, "The content type must be application/json.")


class TakesAnyMediaType(Http):
    """Nobody looks at the content type."""

    breaks = {"transport/media/wrong"}

    def require_media(self, call: Call) -> None:
        pass


class FailsWithoutMediaType(Http):
    """A missing content type makes the server fail."""

    breaks = {"transport/media/missing", "transport/media/missing-is-json"}

    def require_media(self, call: Call) -> None:
        assert call.headers["content-type"].lower().startswith("application/json") or super().require_media(call)


class NeedsLength(Http):
    """A body that comes in chunks is taken for none."""

    breaks = {"transport/media/in-chunks"}

    async def content(self, call: Call) -> bytes:
        content = await super().content(call)
        return content if "content-length" in call.headers else b""


class StreamsOnlyWhereAccepted(Http):
    """A client that accepts JSON gets JSON, although it wants a stream."""

    breaks = {"transport/media/accept-json-streams"}
    faults = 2

    async def read(self, call: Call) -> Any:
        body = await super().read(call)
        if isinstance(body, dict) and call.headers.get("accept") == "application/json":
            body.pop("stream", None)
        return body


class StreamsMayBeStored(Http):
    """Nothing says that a stream must not be stored."""

    breaks = {"transport/media/not-stored"}

    def stream_headers(self, call: Call) -> Headers:
        return [header for header in super().stream_headers(call) if header[0] != b"cache-control"]


class RefusesUnknownHeaders(Http):
    """Headers that the server doesn't know are refused."""

    breaks = {"transport/media/clients-headers"}

    def authorize(self, call: Call) -> None:
        super().authorize(call)
        if any(name.startswith("x-stainless-") for name in call.headers):
            raise Refusal(ErrorCode.INVALID_VALUE, "A header is unknown.")


# Errors


class UnknownPathIsBadRequest(Http):
    """A path that isn't there is answered as if its request were wrong."""

    breaks = {"transport/errors/unknown-path", "transport/errors/unknown-path-of-a-post"}

    def status(self, refusal: Refusal) -> int:
        return 400 if refusal.code is ErrorCode.NOT_FOUND else super().status(refusal)


class PlainErrors(Http):
    """Errors of HTTP itself have the form of the framework beneath."""

    breaks = {"transport/rules/error-envelope"}

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        of_http = refusal.code in (ErrorCode.NOT_FOUND, ErrorCode.METHOD_NOT_ALLOWED, ErrorCode.INVALID_API_KEY)
        return {"detail": refusal.message} if of_http else super().envelope(refusal)


class WrongMethodIsNotFound(Http):
    """A method that a path doesn't take makes it unknown."""

    breaks = {"transport/errors/wrong-method*"}

    def wrong_method(self, call: Call, routes: list[Route]) -> Route:
        raise Refusal(ErrorCode.NOT_FOUND, f"There is nothing at {call.path[:200]}.")


class NamesNoMethods(Http):
    """A 405 doesn't say which methods the path takes."""

    breaks = {"transport/errors/allowed-methods"}

    def allowed(self, call: Call) -> str:
        return ""


class MarksByteOrder(Http):
    """JSON begins with a byte order mark."""

    breaks = {"chat/rules/answer-shape", "transport/rules/error-envelope"}
    faults = 2

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        await super().respond(call, status, b"\xef\xbb\xbf" + body, headers)


class ErrorsArePlainText(Http):
    """Errors are declared as text, so that clients don't read them."""

    breaks = {"transport/errors/declared"}

    async def respond(self, call: Call, status: int, body: bytes, headers: Headers) -> None:
        if status >= 400:
            headers = [(b"content-type", b"text/plain"), *headers[1:]]
        await super().respond(call, status, body, headers)


class FailsOnEmptySegment(Http):
    """A path with an empty name in it makes the server fail."""

    breaks = {"transport/errors/empty-segment"}

    def route(self, call: Call) -> Route:
        assert all(call.path[1:].split("/"))
        return super().route(call)


class RefusesInStreams(Http):
    """What a stream is refused for comes in the stream, after a 200."""

    breaks = {"transport/errors/streamed-*"}

    async def refuse(self, call: Call, refusal: Refusal) -> None:
        if not isinstance(call.body, dict) or not call.body.get("stream"):
            await super().refuse(call, refusal)
            return
        content = b"data: " + self.encode(self.envelope(refusal)) + b"\n\ndata: [DONE]\n\n"
        await self.respond(call, 200, content, self.stream_headers(call))


# Keys


class WrongKeyIsForbidden(Http):
    """Without the right key the status is 403."""

    breaks = {
        "transport/keys/missing",
        "transport/keys/wrong",
        "transport/keys/other-scheme",
        "transport/keys/empty",
        "transport/keys/streamed",
    }

    def status(self, refusal: Refusal) -> int:
        return 403 if refusal.code is ErrorCode.INVALID_API_KEY else super().status(refusal)


class FailsWithoutKey(Http):
    """A missing key makes the server fail."""

    breaks = {"transport/capabilities/auth"}

    def authorize(self, call: Call) -> None:
        assert call.headers["authorization"]
        super().authorize(call)


class AsksForNoKey(Http):
    """Nobody needs a key, though there is one."""

    breaks = {"transport/capabilities/auth"}

    def authorize(self, call: Call) -> None:
        pass


class FailsOnHead(Http):
    """A method that no path takes makes the server fail."""

    breaks = {"transport/paths/head"}

    def wrong_method(self, call: Call, routes: list[Route]) -> Route:
        if call.method == "HEAD":
            raise RuntimeError
        return super().wrong_method(call, routes)


class TakesAnyKey(Http):
    """Every key is the right one."""

    breaks = {"transport/keys/wrong"}

    def is_key(self, key: str) -> bool:
        return bool(key)


class RepeatsKeys(Http):
    """The error for a wrong key repeats it."""

    breaks = {"transport/keys/wrong"}

    def authorize(self, call: Call) -> None:
        try:
            super().authorize(call)
        except Refusal as refusal:
            key = call.headers.get("authorization", "")
            raise Refusal(refusal.code, f"The key {key!r} is wrong.") from None


class SchemeInCapitals(Http):
    """The scheme's name must be spelled Bearer."""

    breaks = {"transport/keys/scheme-in-small-letters"}

    def authorize(self, call: Call) -> None:
        super().authorize(call)
        if not call.headers["authorization"].startswith("Bearer "):
            raise Refusal(ErrorCode.INVALID_API_KEY, "A key is needed, sent as 'Authorization: Bearer KEY'.")


class NoChallenge(Http):
    """A 401 doesn't say which scheme it wants."""

    breaks = {"transport/keys/challenge"}

    def refusal_headers(self, refusal: Refusal) -> Headers:
        return []


# Other origins


class PreflightNeedsKey(Http):
    """The question of a browser before its request, which has no key, is refused."""

    breaks = {"transport/pages/preflight", "transport/pages/clients-headers"}

    def is_preflight(self, call: Call) -> bool:
        return False


class AllowsNamedHeadersOnly(Http):
    """Pages may send a key, but not the headers of OpenAI's client."""

    breaks = {"transport/pages/clients-headers"}

    def allowed_headers(self, call: Call) -> str:
        return "Authorization, Content-Type"


class HidesErrorsFromPages(Http):
    """Pages may read answers, but no errors."""

    breaks = {"transport/pages/answers"}

    async def refuse(self, call: Call, refusal: Refusal) -> None:
        call.headers = {name: value for name, value in call.headers.items() if name != "origin"}
        await super().refuse(call, refusal)


class SeveralOrigins(Http):
    """All allowed origins are listed, where only one may stand."""

    breaks = {"transport/capabilities/cors"}

    def origin_headers(self, call: Call) -> Headers:
        return [(b"access-control-allow-origin", b"http://localhost:3000, http://localhost:8080")]


# Ids


class OneIdForAll(Http):
    """All requests have the same id."""

    breaks = {"transport/ids/everywhere", "transport/ids/given-back"}
    faults = 2

    def request_id(self, call: Call) -> str:
        return "req_1"


class EmptyId(Http):
    """The id of a request is empty."""

    breaks = {"transport/capabilities/request-id", "transport/ids/given-back"}
    faults = 2

    def request_id(self, call: Call) -> str:
        return ""


# Paths


class OneBasePath(Http):
    """The paths are below /v1 only."""

    breaks = {"transport/paths/older-base"}

    def without_base(self, path: str) -> tuple[str, bool]:
        return (path.removeprefix("/v1"), True) if path.startswith("/v1/") else (path, False)


class HealthNeedsKey(Http):
    """Whether the server can answer is told to those with a key only."""

    breaks = {"transport/paths/health", "transport/paths/version"}

    def route(self, call: Call) -> Route:
        return replace(super().route(call), root=False)


class QueryIsPath(Http):
    """A query makes the path unknown."""

    breaks = {"transport/paths/query", "models/list/query"}

    def call(self, scope: Message, receive: Receive, send: Send) -> Call:
        call = super().call(scope, receive, send)
        query = scope["query_string"].decode("latin-1")
        call.path = f"{call.path}?{unquote(query)}" if query else call.path
        return call
