"""One error envelope on every answer with a status of 400 or above, wherever it was raised."""

import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import msgspec
from connexion.exceptions import ProblemException
from connexion.lifecycle import ConnexionResponse
from starlette.exceptions import HTTPException

from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import OPERATIONS, OTHER_PATHS
from specvino.handlers.errors import ApiError
from specvino.server.dialect import System
from specvino.server.operations.exchange import exchange_of, new_request_id
from specvino.server.operations.routes import below_base, path_pattern

logger = logging.getLogger("specvino.server")


def internal_error(request_id: str) -> ApiError:
    """Returns the error for the exception being handled, which goes to the log and not to the client."""
    logger.exception("request %s failed", request_id)
    message = f"The server failed on this request (id {request_id}). The log says why."
    return ApiError(ErrorCode.INTERNAL_ERROR, message)


def headers(error: ApiError) -> dict[str, str]:
    """Returns the headers that an error brings."""
    found = {}
    if error.code is ErrorCode.INVALID_API_KEY:
        found["WWW-Authenticate"] = "Bearer"
    if error.retry_after is not None:
        found["Retry-After"] = str(error.retry_after)
    return found


def raw_answer(error: ApiError, default_headers: list[tuple[bytes, bytes]]) -> bytes:
    """Returns the bytes of a whole answer, for what never becomes a request of the app."""
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
    """Registers the envelope for all that can be raised below the exception middleware: ours, or the system's."""

    def speaking(handler: Callable[[Any, Any, System | None], Awaitable[ConnexionResponse]]) -> Any:
        async def handle(request: Any, error: Any) -> ConnexionResponse:
            return await handler(request, error, system)

        return handle

    app.add_error_handler(ApiError, speaking(_on_api_error))
    app.add_error_handler(HTTPException, speaking(_on_http_exception))
    app.add_error_handler(ProblemException, speaking(_on_http_exception))
    app.add_error_handler(Exception, speaking(_on_exception))


def _response(
    request: Any, error: ApiError, system: System | None, extra: dict[str, str] | None = None
) -> ConnexionResponse:
    noted = exchange_of(request.scope)
    noted.error = error.code.value
    if system:
        status, media, body = system.error(noted.operation.id if noted.operation else None, error)
        return ConnexionResponse(status, media, media, body=body, headers=headers(error) | (extra or {}))
    return ConnexionResponse(
        error.kind.status,
        "application/json",
        "application/json",
        body=msgspec.json.encode(error.body()),
        headers=headers(error) | (extra or {}),
    )


async def _on_api_error(request: Any, error: ApiError, system: System | None) -> ConnexionResponse:
    return _response(request, error, system)


async def _on_http_exception(request: Any, error: HTTPException, system: System | None) -> ConnexionResponse:
    """Answers with routing's refusals: the only ones that are not ours."""
    path, method = request.scope["path"][:200], request.scope["method"]
    if error.status_code == 405 and below_base(request.scope["path"]) not in OTHER_PATHS:
        allow = ", ".join(_methods(request.scope["path"], (error.headers or {}).get("Allow", "")))
        message = f"{path} does not take {method[:20]}; it takes {allow or 'other methods'}."
        return _response(request, ApiError(ErrorCode.METHOD_NOT_ALLOWED, message), system, {"Allow": allow})
    if error.status_code in (404, 405):
        return _response(request, ApiError(ErrorCode.NOT_FOUND, f"There is nothing at {path}."), system)
    return await _on_exception(request, error, system)


def _methods(path: str, allow: str) -> list[str]:
    """Returns the methods of a path; where it has several operations, the router names (in `allow`) those of one
    only."""
    declared = {operation.method for operation in OPERATIONS.values() if path_pattern(operation.path).fullmatch(path)}
    return sorted(declared.union(allow.split(", ")))


async def _on_exception(request: Any, error: Exception, system: System | None) -> ConnexionResponse:
    return _response(request, internal_error(request.scope["state"]["request_id"]), system)
