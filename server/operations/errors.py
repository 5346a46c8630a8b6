"""One error format for all responses with a status of 400 or above, wherever the error was raised."""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import msgspec
from connexion.exceptions import ProblemException
from connexion.lifecycle import ConnexionResponse
from starlette.exceptions import HTTPException

from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import OPERATIONS, OTHER_PATHS, Operation
from specvino.handlers.errors import ApiError
from specvino.server.dialect import System
from specvino.server.operations.exchange import exchange_of, new_request_id
from specvino.server.operations.routes import below_base, for_ollama, meant_path, operation_at, path_pattern

logger = logging.getLogger("specvino.server")


def internal_error(request_id: str) -> ApiError:
    """Logs the exception being handled, and returns the error for the client, which doesn't reveal it."""
    logger.exception("request %s failed", request_id)
    message = f"The server failed on this request (id {request_id}). The server's log has the cause."
    return ApiError(ErrorCode.INTERNAL_ERROR, message)


def body_of(error: ApiError, operation: Operation | None, request_id: str) -> Any:
    """Returns the body of an error, as the document describes it for the operation."""
    match operation.error if operation else None:
        case "AnthropicErrorResponse":
            return error.anthropic_body(request_id)
        case "OllamaErrorResponse":
            return error.ollama_body()
    return error.body()


_LINE_ENDS = {end.encode(): b"\\u%04x" % ord(end) for end in "\x85\u2028\u2029"}


def line(value: Any) -> bytes:
    """Returns a line of a stream of lines of JSON.

    What Unicode calls line ends is escaped: httpx, on which Ollama's own Python client (0.6.3) is based, splits there.
    Other line ends are control characters, which JSON escapes.
    """
    text = msgspec.json.encode(value)
    for end, escaped in _LINE_ENDS.items():
        text = text.replace(end, escaped)
    return text + b"\n"


def event_of(error: ApiError, operation: Operation | None, request_id: str, sent: int) -> bytes:
    """Returns the error as the last event of a stream, after `sent` events."""
    body = body_of(error, operation, request_id)
    match operation.framing if operation else None:
        case "lines":
            return line(body)
        case "event":
            event = body if "type" in body else error.event(sent)
            return b"event: error\ndata: %b\n\n" % msgspec.json.encode(event)
    return b"data: %b\n\n" % msgspec.json.encode(body)


def headers(error: ApiError) -> dict[str, str]:
    """Returns the response headers of an error."""
    fields = {}
    if error.code is ErrorCode.INVALID_API_KEY:
        fields["WWW-Authenticate"] = "Bearer"
    if error.retry_after is not None:
        fields["Retry-After"] = str(error.retry_after)
    return fields


def raw_answer(error: ApiError, default_headers: list[tuple[bytes, bytes]]) -> bytes:
    """Returns the bytes of a complete response, for connections refused before the app gets a request."""
    body = msgspec.json.encode(error.body())
    fields = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        "x-request-id": new_request_id(),
        **headers(error),
    }
    lines = [
        f"HTTP/1.1 {error.kind.status} {HTTPStatus(error.kind.status).phrase}".encode(),
        *(b"%b: %b" % field for field in default_headers if field[0].decode() not in fields),
        *(f"{name}: {value}".encode() for name, value in fields.items()),
    ]
    return b"\r\n".join([*lines, b"", body])


def add_error_handlers(app: Any, system: System | None = None) -> None:
    """Registers handlers for all exceptions raised inside the exception middleware; they respond in our format, or in
    the system's."""

    def handler_of(handler: Callable[[Any, Any, System | None], Awaitable[ConnexionResponse]]) -> Any:
        async def handle(request: Any, error: Any) -> ConnexionResponse:
            return await handler(request, error, system)

        return handle

    app.add_error_handler(ApiError, handler_of(_on_api_error))
    app.add_error_handler(HTTPException, handler_of(_on_http_exception))
    app.add_error_handler(ProblemException, handler_of(_on_http_exception))
    app.add_error_handler(Exception, handler_of(_on_exception))


def _response(
    request: Any, error: ApiError, system: System | None, extra: dict[str, str] | None = None
) -> ConnexionResponse:
    exchange = exchange_of(request.scope)
    exchange.error = error.code.value
    # Keys and methods are checked before the operation is known.
    operation = exchange.operation or operation_at(exchange.method, exchange.path)
    if system:
        status, media, body = system.error(
            operation.id if operation else None, error, exchange.request_id, exchange.method
        )
        return ConnexionResponse(status, media, media, body=body, headers=headers(error) | (extra or {}))
    return ConnexionResponse(
        error.kind.status,
        "application/json",
        "application/json",
        body=msgspec.json.encode(body_of(error, operation, exchange.request_id)),
        headers=headers(error) | (extra or {}),
    )


async def _on_api_error(request: Any, error: ApiError, system: System | None) -> ConnexionResponse:
    return _response(request, error, system)


async def _on_http_exception(request: Any, error: HTTPException, system: System | None) -> ConnexionResponse:
    """Handles errors of the router: the only ones that don't come from our code."""
    path, method = request.scope["path"][:200], request.scope["method"]
    if error.status_code == 405 and below_base(request.scope["path"]) not in OTHER_PATHS:
        allow = ", ".join(_methods(request.scope["path"], (error.headers or {}).get("Allow", "")))
        message = f"{path} doesn't support {method[:20]}; allowed methods: {allow or 'others'}."
        return _response(request, ApiError(ErrorCode.METHOD_NOT_ALLOWED, message), system, {"Allow": allow})
    if error.status_code in (404, 405):
        message = f"The path {path} doesn't exist{_instead(request.scope['path'], system)}."
        return _response(request, ApiError(ErrorCode.NOT_FOUND, message), system)
    return await _on_exception(request, error, system)


def _instead(path: str, system: System | None) -> str:
    """Returns what to use in place of an unknown path."""
    if meant := meant_path(path, system):
        return f"; use {meant[:200]}"
    if there := for_ollama(path, system):
        return f": this part of Ollama's own API isn't supported here; use {there}"
    return ""


def _methods(path: str, allow: str) -> list[str]:
    """Returns the methods of a path. If it has several operations, the router's `allow` lists only those of one. A path
    without parameters takes precedence over those with some that match it.
    """
    declared = {operation.method for operation in OPERATIONS.values() if operation.path == below_base(path)} or {
        operation.method for operation in OPERATIONS.values() if path_pattern(operation.path).fullmatch(path)
    }
    return sorted(declared.union(allow.split(", ")))


async def _on_exception(request: Any, error: Exception, system: System | None) -> ConnexionResponse:
    return _response(request, internal_error(request.scope["state"]["request_id"]), system)
