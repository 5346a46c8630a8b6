"""The number of tokens an answer may have where a grammar constrains it: it ends by itself, and reasoning may come
before it."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.session import LIMITS

ROOM = 512


def with_room(endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body with the limit ROOM of tokens, unless it has one of its own."""
    limits = LIMITS[endpoint]
    return dict(body) if any(name in body for name in limits) else {**body, limits[0]: ROOM}
