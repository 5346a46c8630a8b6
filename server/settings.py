"""The settings of the HTTP side, for an operator."""

from dataclasses import dataclass, field

from specvino.handlers.own_document import Door
from specvino.server import hosts
from specvino.server.dialect import System
from specvino.server.telemetry.settings import TelemetrySettings
from specvino.server.validation.size import most_elements
from specvino.server.validation.support import Policy

MAX_BODY = 8 * 1024 * 1024

# Seconds; with what comes after it less than the 30 that Kubernetes gives.
SHUTDOWN_TIMEOUT = 20


@dataclass(frozen=True, slots=True)
class Settings:
    """Holds what an operator can set. Without `keys` everybody may use the server. `max_body` is in bytes. `origins`
    are those whose web pages may use it, `hosts` the names that it answers to. Requests under way may take
    `shutdown_timeout` seconds to end after a signal. It speaks as `system`, if there is one."""

    keys: frozenset[str] = frozenset()
    max_body: int = MAX_BODY
    unsupported_fields: Policy = "report"
    origins: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset({hosts.EVERY})
    shutdown_timeout: int = SHUTDOWN_TIMEOUT
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    system: System | None = None


def door(settings: Settings) -> Door:
    """Returns what the server's document says of these settings."""
    return Door(bool(settings.keys), settings.max_body, most_elements(settings.max_body))
