"""What an operator may set."""

import pytest

from specvino.server.settings import TelemetryError, TelemetrySettings


@pytest.mark.parametrize("url", ["http://127.0.0.1:4318/v1/traces", "https://collector.example"])
def test_endpoints(url) -> None:
    assert TelemetrySettings(otlp_traces_endpoint=url, otlp_metrics_endpoint=url).otlp_metrics_endpoint == url


@pytest.mark.parametrize("url", ["", "127.0.0.1:4318", "grpc://host:4317", "http://", "http://[", "collector"])
def test_what_is_no_url_is_named(url) -> None:
    with pytest.raises(TelemetryError, match=r"such as http://127\.0\.0\.1:4318/v1/traces"):
        TelemetrySettings(otlp_traces_endpoint=url)
    with pytest.raises(TelemetryError):
        TelemetrySettings(otlp_metrics_endpoint=url)
