"""Operator settings of the HTTP server and of telemetry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from specvino.document.loading import whole
from specvino.document.operations import base_paths
from specvino.engine.errors import WrongInput
from specvino.handlers.allowance import KeyLimits
from specvino.handlers.own_document import Door
from specvino.server.access import EVERY
from specvino.server.dialect import System
from specvino.server.validation.bodies import most_elements
from specvino.server.validation.support import Policy

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


class TelemetryError(WrongInput):
    """A setting is invalid; `str()` is the reason in one line."""


@dataclass(frozen=True, slots=True)
class TelemetrySettings:
    """Settings of logs, metrics and traces.

    /metrics requires one of `metrics_keys`; without them, one of the API's keys on the API's port, and none on
    `metrics_port`. The endpoints are URLs of OpenTelemetry collectors. Raises TelemetryError.
    """

    log_format: LogFormat = "text"
    log_level: LogLevel = "info"
    metrics_keys: frozenset[str] = frozenset()
    metrics_port: int | None = None
    otlp_traces_endpoint: str | None = None
    otlp_metrics_endpoint: str | None = None

    def __post_init__(self) -> None:
        for endpoint in (self.otlp_traces_endpoint, self.otlp_metrics_endpoint):
            if endpoint is not None and not _is_url(endpoint):
                example = "http://127.0.0.1:4318/v1/traces"
                raise TelemetryError(f"an OTLP endpoint must be a complete URL, such as {example}; got {endpoint!r}")


def _is_url(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


MAX_BODY = 8 * 1024 * 1024

# Seconds; with the rest of the shutdown less than Kubernetes' 30.
SHUTDOWN_TIMEOUT = 20


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the HTTP server.

    Without `keys`, no key is required. `key_limits` are by the owners of keys. `max_body` is in bytes. `origins` are
    the allowed origins of web pages, `hosts` the allowed names in `Host`. After a signal, running requests have
    `shutdown_timeout` seconds to finish. With `system`, the server emulates that system. With `web`, it has pages for
    browsers.
    """

    keys: frozenset[str] = frozenset()
    key_limits: Mapping[str, KeyLimits] = field(default_factory=dict)
    max_body: int = MAX_BODY
    unsupported_fields: Policy = "report"
    origins: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset({EVERY})
    shutdown_timeout: int = SHUTDOWN_TIMEOUT
    telemetry: TelemetrySettings = field(default_factory=TelemetrySettings)
    system: System | None = None
    web: bool = True

    @property
    def base_path(self) -> str:
        """The first base path of the API, such as `/v1`."""
        first, *_ = self.system.base_paths if self.system else base_paths(whole())
        return first


def door(settings: Settings) -> Door:
    """Returns the settings that the server's own document shows."""
    system = settings.system.name if settings.system else None
    return Door(bool(settings.keys), settings.max_body, most_elements(settings.max_body), system)
