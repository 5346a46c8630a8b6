"""The end of a server, on a real socket."""

import asyncio
import http.client
import json
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import httpx
import pytest
from support.app import MINIMAL, error_of
from support.serving import PATIENCE, wait_until

from specvino.engine.request import GenerationRequest
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Segment
from specvino.handlers.encryption import Cipher
from specvino.handlers.limits import Limits
from specvino.handlers.media import MediaSettings
from specvino.handlers.store import NoStore
from specvino.server.assembly import ServedApp
from specvino.server.connections import Connections
from specvino.server.run import _Server
from specvino.server.settings import Settings


class Held(ScriptedEngine):
    """Goes on with an answer, after its first segment, when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.go_on = asyncio.Event()

    async def close(self) -> None:
        await super().close()
        self.go_on.set()

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        segments = super().generate(request)
        yield await anext(segments)
        self.begun.set()
        await self.go_on.wait()
        self._check_ready(self._script)
        async for segment in segments:
            yield segment


class Running:
    """A server in a thread, with one request under way."""

    def __init__(self, timeout: int) -> None:
        self.engine = Held()
        settings = Settings(shutdown_timeout=timeout)
        served = ServedApp({("m",): self.engine}, settings, NoStore(), Cipher(), Limits(), MediaSettings())
        self.server = _Server(served, lambda _: nullcontext(), Connections(), None)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self.listener.getsockname()
        self.url = f"http://127.0.0.1:{self.address[1]}"
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        await self.engine.start()
        await self.server.serve([self.listener])

    def chat(self) -> httpx.Response:
        return httpx.post(f"{self.url}/v1/chat/completions", json=MINIMAL, timeout=PATIENCE)

    def signal(self) -> None:
        self.server.handle_exit(signal.SIGTERM, None)

    def draining(self) -> bool:
        return httpx.get(f"{self.url}/health", timeout=PATIENCE).status_code == 503


@contextmanager
def running(timeout: int = 10 * PATIENCE) -> Iterator[tuple[Running, list[httpx.Response]]]:
    """The server, and what its one request was answered once the server has ended."""
    it, answers = Running(timeout), list[httpx.Response]()
    client = threading.Thread(target=lambda: answers.append(it.chat()))
    it.thread.start()
    client.start()
    try:
        assert it.engine.begun.wait(PATIENCE)
        yield it, answers
    finally:
        it.server.should_exit = it.server.force_exit = True
        with suppress(RuntimeError):  # it has ended
            it.loop.call_soon_threadsafe(it.engine.go_on.set)
        client.join(PATIENCE)
        it.thread.join(PATIENCE)
    assert not it.thread.is_alive()


def test_new_requests_are_refused_while_those_under_way_end() -> None:
    with running() as (it, answers):
        kept = http.client.HTTPConnection(*it.address, timeout=PATIENCE)
        assert _asked(kept, "GET", "/v1/models")[:2] == (200, None)
        it.signal()
        wait_until(it.draining)
        refused = it.chat()
        error = error_of(refused, 503, "engine_unavailable")
        assert error["message"] == "The server is shutting down."
        assert int(refused.headers["retry-after"]) >= 1
        health = httpx.get(f"{it.url}/health")
        error_of(health, 503, "engine_unavailable")
        assert int(health.headers["retry-after"]) >= 1
        assert _asked(kept, "POST", "/v1/chat/completions", MINIMAL)[:2] == (503, "close")
        assert httpx.get(f"{it.url}/v1/models").status_code == 200, (
            "what needs no engine is answered as long as it can be"
        )
        assert not answers
        it.loop.call_soon_threadsafe(it.engine.go_on.set)
        it.thread.join(PATIENCE)
        assert not it.thread.is_alive()
    (answer,) = answers
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"] == "hi"


def test_a_second_signal_ends_the_waiting() -> None:
    with running() as (it, answers):
        it.signal()
        wait_until(it.draining)
        it.signal()
        it.thread.join(PATIENCE)
        assert not it.thread.is_alive()
    error_of(answers[0], 503, "engine_unavailable")


def test_what_is_late_gets_a_proper_error() -> None:
    with running(timeout=0) as (it, answers):
        it.signal()
        it.thread.join(PATIENCE)
        assert not it.thread.is_alive()
    error_of(answers[0], 503, "engine_unavailable")


@pytest.mark.parametrize("signals", [1, 2, 3])
def test_a_third_signal_forces(signals: int) -> None:
    with running() as (it, _):
        for _ in range(signals):
            it.signal()
        assert it.server.force_exit is (signals == 3)


def _asked(connection: http.client.HTTPConnection, method: str, path: str, body: Any = None) -> tuple[Any, ...]:
    """The status, and what is said of the connection."""
    connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.headers["connection"], answer.read()
