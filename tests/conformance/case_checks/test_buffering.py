"""Streams that nothing holds back, however they come."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from itertools import count

import pytest
from reference_server.bench import judged, message_of
from reference_server.http import Call, Http, Stream
from support.raw_server import Asked, Raw, error, raw_server

from specvino.conformance.case_checks import controls
from specvino.conformance.case_checks.buffering import stream_sent_as_generated
from specvino.conformance.dialect import Dialect
from specvino.conformance.http.client import Client, Target
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import Session
from specvino.conformance.verdict import NotExercised, Verdict

STREAMS = {
    "transport/connections/stream-flows",
    "transport/connections/stream-of-a-message-flows",
    "transport/connections/stream-of-a-response-flows",
    "transport/connections/stream-of-a-text-flows",
}


class ReadsForLong(Http):
    """A prompt takes as long as 40 requests, and an answer no time: it is sent as a whole."""

    async def stream(self, call: Call, stream: Stream) -> None:
        for _ in range(40):
            await self.wait(call, math.inf)
        await super().stream(call, stream)

    async def work(self, call: Call, tokens: int) -> None:
        return

    def is_due(self, ready: bytes) -> bool:
        return False


class GathersALittle(Http):
    """Events are sent when there are enough for a few packets."""

    def is_due(self, ready: bytes) -> bool:
        return len(ready) > 4_000


@pytest.mark.parametrize(("parts", "pace"), [((), 0.0), ((ReadsForLong,), math.inf)])
def test_an_answer_at_once_is_not_judged(parts, pace) -> None:
    results = judged(*parts, pace=pace, only=STREAMS)
    assert {rule: results[rule].verdict for rule in STREAMS} == dict.fromkeys(STREAMS, Verdict.NOT_EXERCISED)
    assert {message_of(results[rule]).partition(":")[0] for rule in STREAMS} == {"too few for a verdict"}


def test_a_small_buffer_is_no_fault() -> None:
    results = judged(GathersALittle, pace=math.inf, only=STREAMS)
    assert {rule: message_of(results[rule]) for rule in STREAMS} == dict.fromkeys(STREAMS, "")


def test_a_step_of_the_clock_reorders_nothing(monkeypatch) -> None:
    rule = "transport/connections/stream-flows"
    hours = count()
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000 - 3600 * next(hours))
    assert message_of(judged(pace=math.inf, only={rule})[rule]) == ""


def checked(server: Raw) -> tuple[list[Exchange], list[Exchange]]:
    """Checks the streams of a server. Returns what its session kept, and what reports get."""
    reported: list[Exchange] = []

    async def has(capability: str) -> bool:
        return True

    async def check() -> list[Exchange]:
        async with Client(Target(server.url), on_exchange=reported.append) as client:
            session = Session(client, Dialect("openai"), "m", lambda exchange: None, has)
            await stream_sent_as_generated(session, "chat", to="chat", body={"messages": []}, short=1)
            return session.exchanges

    return asyncio.run(check()), reported


EVENT = (
    b'data: {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", '
    b'"choices": [{"index": 0, "delta": {"role": "assistant", "content": "a"}, "finish_reason": null}]}\n\n'
)


async def streamed(server: Raw, events: int) -> AsyncIterator[bytes]:
    """Yields a stream of which each event waits for another request."""
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    for _ in range(events):
        before = len(server.asked)
        while len(server.asked) == before:  # noqa: ASYNC110 - nothing tells when a request comes
            await asyncio.sleep(0)
        yield EVENT


def asked_for_models(server: Raw) -> int:
    return sum(asked.path.endswith("/models") for asked in server.asked)


def test_no_control_is_kept_or_reported() -> None:
    async def chat(asked: Asked) -> AsyncIterator[bytes]:
        async for piece in streamed(server, 40 if b'"max_tokens": 32' in asked.body else 1):
            yield piece

    with raw_server(chat) as server:
        kept, reported = checked(server)
    assert asked_for_models(server) > 40
    assert [exchange.request.method for exchange in kept] == ["POST", "POST"]
    assert reported == kept


def test_a_stream_without_end_has_a_limited_number_of_controls(monkeypatch) -> None:
    async def chat(asked: Asked) -> AsyncIterator[bytes]:
        async for piece in streamed(server, 1_000):
            yield piece

    monkeypatch.setattr(controls, "MOST", 20)
    with (
        raw_server(chat) as server,
        pytest.raises(NotExercised, match=r"^the answer takes longer than 20 other requests$"),
    ):
        checked(server)
    assert asked_for_models(server) == 20


def test_a_server_that_refuses_a_control_is_not_asked_again() -> None:
    async def chat(asked: Asked) -> AsyncIterator[bytes]:
        async for piece in streamed(server, 1_000):
            yield piece

    busy = error("429 Too Many Requests", "The quota is used up.", "Retry-After: 1\r\n")
    with raw_server(chat, busy) as server, pytest.raises(NotExercised, match=r"is 429, not 200$"):
        checked(server)
    assert asked_for_models(server) == 1
