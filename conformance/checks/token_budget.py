"""How many tokens an answer may have that a grammar bounds: it ends by itself, and its model may think before."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.session import LIMITS

ROOM = 512


def with_room(endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The same with that limit, unless it has one."""
    limits = LIMITS[endpoint]
    return dict(body) if any(name in body for name in limits) else {**body, limits[0]: ROOM}
