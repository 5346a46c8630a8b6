"""The settings of the HTTP side, for an operator."""

from dataclasses import dataclass

from specvino.server import connections, hosts
from specvino.server.validation.support import Policy

MAX_BODY = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """Holds what an operator can set. Without `keys` everybody may use the server. `max_body` is in bytes. `origins`
    are those whose web pages may use it, `hosts` the names that it answers to."""

    keys: frozenset[str] = frozenset()
    max_body: int = MAX_BODY
    unsupported_fields: Policy = "report"
    origins: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset({hosts.EVERY})
    max_connections: int = connections.MOST
