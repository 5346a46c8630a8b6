"""Errors in the format of another system: status, media type and body."""

import json
from collections.abc import Callable
from typing import Any

from specvino.document.operations import envelope_of
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

# The names of error kinds in dialect heads. All other errors with status 400 are validation errors.
KINDS = {
    ErrorCode.INVALID_JSON: "json",
    ErrorCode.MISSING_BODY: "json",
    ErrorCode.INVALID_API_KEY: "key",
    ErrorCode.MODEL_NOT_FOUND: "unknown_model",
    ErrorCode.REQUEST_TOO_LARGE: "too_large",
    ErrorCode.UNSUPPORTED_MEDIA_TYPE: "media_type",
    ErrorCode.NOT_FOUND: "unknown_route",
    ErrorCode.METHOD_NOT_ALLOWED: "method",
    ErrorCode.RATE_LIMIT_EXCEEDED: "overload",
    ErrorCode.SERVER_BUSY: "overload",
    ErrorCode.ENGINE_UNAVAILABLE: "unavailable",
    ErrorCode.ENGINE_RESTARTED: "unavailable",
    ErrorCode.INTERNAL_ERROR: "fault",
}

TEXT = "text/plain; charset=utf-8"
JSON = "application/json"


def kind_of(error: ApiError) -> str | None:
    """Returns the name of this kind of error in the heads of dialects; None if they don't define it."""
    return KINDS.get(error.code, "validation" if error.kind.status == 400 else None)


def status_of(head: dict[str, Any], endpoint: str | None, error: ApiError, method: str | None = None) -> int:
    """Returns the system's status for an error: the first of several, or ours if it is unknown. `method` is that of the
    request."""
    if kind_of(error) in ("method", "unknown_route") and method in head.get("methods", {}):
        return int(head["methods"][method])
    statuses = head["statuses"] | head.get("at", {}).get(endpoint or "", {})
    status = statuses.get(kind_of(error) or "")
    if isinstance(status, list):
        status = status[0]
    return status if isinstance(status, int) else error.kind.status


def body_of(
    head: dict[str, Any],
    endpoint: str | None,
    error: ApiError,
    status: int,
    fit: Callable[[Any], Any],
    request_id: str,
) -> tuple[str, bytes]:
    """Returns the media type and the body; `fit` converts an error object of ours to the system's."""
    unrouted = endpoint is None and kind_of(error) == "unknown_route" and "unknown_route" in head.get("envelopes", {})
    envelope = envelope_of(head, endpoint, "unknown_route" if unrouted else status)
    match envelope:
        case "text":
            return TEXT, error.message.encode()
        case "string":
            return JSON, _dumped({"error": error.message})
        case "detail":
            return JSON, _dumped({"detail": error.message})
        case "flat":
            flat = {"object": "error", **error.body()["error"], "code": status}
            return JSON, _dumped(flat)
        case "anthropic":
            return JSON, _dumped(error.anthropic_body(request_id))
        case "json text":
            return JSON, _dumped(_dumped({"object": "error", "message": error.message, "code": status}).decode())
        case _:
            return JSON, _dumped(fit(error.body()))


def _dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
