"""The origins of web pages that may use the server from a browser (CORS)."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

EVERY = "*"

_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")

# Browsers show no others to a page but the plainest.
_SHOWN = ("X-Request-Id", "X-Unsupported-Params", "Retry-After", "WWW-Authenticate")


class OriginError(ValueError):
    """A text is no origin; `str()` is a sentence."""


def parse(values: Iterable[str]) -> frozenset[str]:
    """Reads origins as browsers name them, or `*` for all; several may stand in a value, with commas between them.
    Raises OriginError."""
    origins = frozenset(part for value in values for each in value.split(",") if (part := each.strip().lower()))
    for origin in origins - {EVERY}:
        if not _ORIGIN.fullmatch(origin):
            raise OriginError(
                f"an allowed origin is a scheme and a host, as https://example.com:8443, or *; {origin!r} is neither"
            )
    return origins


class _Origins(CORSMiddleware):
    def preflight_response(self, request_headers: Any) -> Response:
        answer = super().preflight_response(request_headers)
        if answer.status_code < 400:
            return answer
        # Starlette's own words say what of the request isn't allowed: its origin, its method.
        message = f"A web page of {request_headers['origin'][:200]!r} may not send this: {bytes(answer.body).decode()}."
        error = ApiError(ErrorCode.ORIGIN_NOT_ALLOWED, message)
        kept = {name: value for name, value in answer.headers.items() if not name.startswith("content-")}
        return Response(msgspec.json.encode(error.body()), error.kind.status, kept, "application/json")


def middleware(origins: frozenset[str]) -> partial[_Origins]:
    """Returns the middleware that answers preflights, and lets pages of these origins read the answers. Keys come in a
    header: no cookies do."""
    return partial(
        _Origins,
        allow_origins=sorted(origins),
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=(EVERY,),
        expose_headers=_SHOWN,
    )
