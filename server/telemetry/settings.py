"""The settings of what is seen from outside, for an operator."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from specvino.server.telemetry.logs import LogFormat


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
