"""The port of the metrics works while the server's own loop does not."""

import asyncio
import socket
import threading

import httpx
from prometheus_client import CollectorRegistry, Counter

from specvino.server.telemetry.metrics_page import MetricsPage, metrics_app, serving_metrics


def test_it_answers_while_the_loop_is_blocked_and_ends_with_it() -> None:
    registry = CollectorRegistry()
    Counter("seen", "Seen.", registry=registry).inc()

    async def run() -> tuple[str, int]:
        with socket.socket(proto=socket.IPPROTO_TCP) as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            port = listener.getsockname()[1]
            async with serving_metrics(metrics_app(MetricsPage(registry, frozenset())), listener):
                response = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=300)  # noqa: ASYNC210 - this loop is to be blocked
                return response.text, port

    text, _ = asyncio.run(run())
    assert "seen_total 1.0" in text
    assert not [thread for thread in threading.enumerate() if thread.name == "metrics"]
