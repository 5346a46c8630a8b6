"""The origins of web pages that may use the server from a browser (CORS)."""

import re
from collections.abc import Iterable
from functools import partial

from starlette.middleware.cors import CORSMiddleware

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


def middleware(origins: frozenset[str]) -> partial[CORSMiddleware]:
    """Returns the middleware that answers preflights, and lets pages of these origins read the answers. Keys come in a
    header: no cookies do."""
    return partial(
        CORSMiddleware,
        allow_origins=sorted(origins),
        allow_methods=("GET", "POST", "DELETE"),
        allow_headers=(EVERY,),
        expose_headers=_SHOWN,
    )
