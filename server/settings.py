"""The settings of the HTTP side and of telemetry, for an operator."""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from specvino.handlers.own_document import Door
from specvino.server.access import EVERY
from specvino.server.dialect import System
from specvino.server.validation.bodies import most_elements
from specvino.server.validation.support import Policy

LogFormat = Literal["text", "json"]


class TelemetryError(ValueError):
    """A setting can't be used; `str()` says why in one line."""


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    """Holds what an operator can set. /metrics takes `metrics_keys`; without them, on the API's port the keys of the
    API, and on `metrics_port` none. The endpoints are URLs of OpenTelemetry collectors. Raises TelemetryError."""

    log_format: LogFormat = "text"
    metrics_keys: frozenset[str] = frozenset()
    metrics_port: int | None = None
    otlp_traces_endpoint: str | None = None
    otlp_metrics_endpoint: str | None = None

    def __post_init__(self) -> None:
        for endpoint in (self.otlp_traces_endpoint, self.otlp_metrics_endpoint):
            if endpoint is not None and not _is_url(endpoint):
                example = "http://127.0.0.1:4318/v1/traces"
                raise TelemetryError(f"an OTLP endpoint is a whole URL, as {example}; {endpoint!r} is none")


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


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
    hosts: frozenset[str] = frozenset({EVERY})
    shutdown_timeout: int = SHUTDOWN_TIMEOUT
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    system: System | None = None


def door(settings: Settings) -> Door:
    """Returns what the server's document says of these settings."""
    return Door(bool(settings.keys), settings.max_body, most_elements(settings.max_body))
