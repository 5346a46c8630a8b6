"""What is known of an exchange, whoever made its answer."""

import asyncio
from typing import Any

import httpx
import pytest
from support.app import MINIMAL

from specvino.engine.scripted import ScriptedEngine
from specvino.handlers import bind
from specvino.handlers.models import ServedModel
from specvino.server.app import create_app
from specvino.server.operations.exchange import CLIENT_LEFT, Exchange
from specvino.server.settings import Settings
from specvino.server.telemetry.telemetry import Telemetry


def exchanged(method: str, path: str, settings: Settings | None = None, **options: Any) -> Exchange:
    async def exchange() -> Exchange:
        engine, chosen = ScriptedEngine(), settings or Settings()
        recorded: list[Exchange] = []
        await engine.start()
        telemetry = Telemetry({"m": engine}, chosen)
        telemetry.recorders.append(recorded.append)
        app = create_app(bind([ServedModel(("m",), 1, engine)]), chosen, telemetry=telemetry)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            await client.request(method, path, **options)
        (only,) = recorded
        return only

    return asyncio.run(exchange())


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer(stream) -> None:
    exchange = exchanged(
        "POST", "/v3/chat/completions", json=MINIMAL | {"stream": stream}, headers={"x-request-id": "mine"}
    )
    assert (exchange.request_id, exchange.method, exchange.status, exchange.complete) == ("mine", "POST", 200, True)
    assert exchange.route == "/v3/chat/completions"
    assert exchange.error is None
    assert exchange.generation is not None
    assert exchange.generation.completion_tokens == 2


@pytest.mark.parametrize(
    ("method", "path", "status", "route", "error"),
    [
        ("GET", "/v1/responses/resp_1", 404, "/v1/responses/{response_id}", "response_not_found"),
        ("GET", "/health", 200, "/health", None),
        ("GET", "/v3/v1/models", 200, "/v3/v1/models", None),
        ("GET", "/v1/nope?key=secret", 404, None, "not_found"),
        ("PUT", "/v1/models", 405, None, "method_not_allowed"),
        ("POST", "/v1/completions", 415, "/v1/completions", "unsupported_media_type"),
        ("GET", "/docs", 200, None, None),
        ("GET", "/metrics", 200, None, None),
    ],
)
def test_an_exchange_without_a_generation(method, path, status, route, error) -> None:
    exchange = exchanged(method, path, content=b"" if method == "GET" else b"{", headers={"content-type": "text/plain"})
    assert (exchange.status, exchange.route, exchange.error, exchange.generation) == (status, route, error, None)
    assert exchange.complete
    assert "?" not in exchange.path


def test_a_stranger_s_is_recorded_too() -> None:
    exchange = exchanged("POST", "/v1/chat/completions", Settings(keys=frozenset(["right"])), json=MINIMAL)
    assert (exchange.status, exchange.error) == (401, "invalid_api_key")


def test_an_error_inside_a_stream_is_the_generation_s() -> None:
    body = MINIMAL | {"stream": True, "messages": [{"role": "user", "content": "script: crash_at=1\na b c"}]}
    exchange = exchanged("POST", "/v1/chat/completions", json=body)
    assert (exchange.status, exchange.error, exchange.complete) == (200, None, True)
    assert exchange.generation is not None
    assert exchange.generation.error == "engine_restarted"


def test_a_client_that_leaves() -> None:
    """It goes while the first token doesn't come: of a stream it has seen the status, of a body nothing."""
    for stream, status in ((True, 200), (False, CLIENT_LEFT)):
        recorded = asyncio.run(_left(stream))
        assert (recorded.status, recorded.complete) == (status, False)
        assert recorded.generation is not None
        assert recorded.generation.outcomes == ["abort"]


async def _left(stream: bool) -> Exchange:
    engine = ScriptedEngine()
    recorded: list[Exchange] = []
    await engine.start()
    telemetry = Telemetry({"m": engine}, Settings())
    telemetry.recorders.append(recorded.append)
    app = create_app(bind([ServedModel(("m",), 1, engine)]), Settings(), telemetry=telemetry)
    asks = {"role": "user", "content": "script: stall_at=0\nhi"}
    content = httpx.Request("POST", "http://test", json=MINIMAL | {"stream": stream, "messages": [asks]}).content
    body = iter([{"type": "http.request", "body": content, "more_body": False}])

    async def receive() -> dict[str, Any]:
        while not (first := next(body, None)) and not engine.stats().running:  # noqa: ASYNC110 - only tests wait for it
            await asyncio.sleep(0)
        return first or {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/chat/completions",
        "raw_path": b"/v1/chat/completions",
        "root_path": "",
        "query_string": b"",
        "headers": [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("test", 80),
        "scheme": "http",
        "http_version": "1.1",
    }
    await app(scope, receive, send)
    (only,) = recorded
    return only
