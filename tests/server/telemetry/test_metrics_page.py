"""GET /metrics: who may read it, and that nobody else is told anything."""

import asyncio

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter
from support.app import Client, error_of

from specvino.server.settings import Settings, TelemetrySettings
from specvino.server.telemetry.metrics_page import MetricsPage, metrics_app

KEYS = {"api": frozenset(["api"]), "metrics": frozenset(["metrics"])}


def asked(client: Client, key: str | None, path: str = "/metrics") -> httpx.Response:
    return client.ask("GET", path, headers={"authorization": f"Bearer {key}"} if key else {})


def client_with(*kinds: str) -> Client:
    telemetry = TelemetrySettings(metrics_keys=KEYS["metrics"] if "metrics" in kinds else frozenset())
    return Client(settings=Settings(KEYS["api"] if "api" in kinds else frozenset(), telemetry=telemetry))


@pytest.mark.parametrize(
    ("kinds", "right", "wrong"),
    [
        ((), None, None),
        (["api"], "api", "metrics"),
        (["metrics"], "metrics", "api"),
        (["api", "metrics"], "metrics", "api"),
    ],
)
def test_who_may_read_it(kinds, right, wrong) -> None:
    client = client_with(*kinds)
    answer = asked(client, right)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "vllm:num_requests_running" in answer.text
    for key in (wrong, None, "no key") if kinds else ():
        refused = asked(client, key)
        error_of(refused, 401, "invalid_api_key")
        assert refused.headers["www-authenticate"] == "Bearer"


def test_a_metrics_key_opens_nothing_else() -> None:
    client = client_with("api", "metrics")
    error_of(asked(client, "metrics", "/v1/models"), 401, "invalid_api_key")
    assert asked(client, "api", "/v1/models").status_code == 200


@pytest.mark.parametrize("path", ["/metrics/", "/v1/metrics", "/metricsx", "/metrics/x"])
def test_it_stands_at_one_path(path) -> None:
    error_of(Client().ask("GET", path), 404, "not_found")


def test_only_reading() -> None:
    error_of(Client().ask("POST", "/metrics"), 405, "method_not_allowed")
    assert Client().ask("HEAD", "/metrics").status_code == 200


@pytest.mark.parametrize("accept", ["application/openmetrics-text; version=1.0.0", "\xff", "", "*/*"])
def test_any_accept_header_gets_the_one_form(accept) -> None:
    answer = Client().ask("GET", "/metrics", headers={"accept": accept.encode("latin-1")})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")


def test_with_a_port_of_its_own_it_is_not_beside_the_api() -> None:
    client = Client(settings=Settings(telemetry=TelemetrySettings(metrics_port=0)))
    error_of(asked(client, None), 404, "not_found")


@pytest.mark.parametrize("keys", [frozenset(), frozenset(["right"])])
def test_the_app_of_a_port_of_its_own(keys) -> None:
    registry = CollectorRegistry()
    Counter("seen", "Seen.", registry=registry).inc()

    async def exchange(path: str, key: str) -> httpx.Response:
        app = metrics_app(MetricsPage(registry, keys))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return await client.get(path, headers={"authorization": f"Bearer {key}"})

    assert "seen_total 1.0" in asyncio.run(exchange("/metrics", "right")).text
    assert asyncio.run(exchange("/v1/models", "right")).status_code == 404
    wrong = asyncio.run(exchange("/metrics", "wrong"))
    if keys:
        assert wrong.status_code == 401
        assert wrong.json()["error"]["code"] == "invalid_api_key"
        assert wrong.headers["www-authenticate"] == "Bearer"
    else:
        assert wrong.status_code == 200
