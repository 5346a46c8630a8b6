"""Bodies that come at the same time."""

import asyncio
import threading
from typing import Any

import pytest
from support.app import Client, error_of

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.operations import operation
from specvino.server.validation.bodies import MOST_UNFINISHED, SMALL, Bodies, require_json
from specvino.server.validation.parsing import parse_json

PIECE = b"x" * 100
SCOPE = {"type": "http", "headers": []}


class Sender:
    """A client whose pieces come when the test says so."""

    def __init__(self) -> None:
        self._pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def receive(self) -> Any:
        return await self._pieces.get()

    async def send(self, *pieces: bytes, end: bool = False) -> None:
        for piece in pieces:
            self._pieces.put_nowait({"type": "http.request", "body": piece, "more_body": True})
        if end:
            self._pieces.put_nowait({"type": "http.request", "body": b"", "more_body": False})
        for _ in range(10):  # it is read, and who is refused hears of it
            await asyncio.sleep(0)


async def started(bodies: Bodies, *pieces: bytes) -> tuple[Sender, asyncio.Task[bytes]]:
    sender = Sender()
    reading = asyncio.create_task(bodies.read(SCOPE, sender.receive))
    await sender.send(*pieces)
    return sender, reading


def test_the_body_that_has_come_for_the_longest_is_refused() -> None:
    async def test() -> None:
        bodies = Bodies(len(PIECE))
        slow = [await started(bodies, PIECE) for _ in range(MOST_UNFINISHED)]
        assert not any(reading.done() for _, reading in slow)
        for index in range(3):
            honest, reading = await started(bodies, PIECE)
            await honest.send(end=True)
            assert await reading == PIECE
            refused = slow[index][1]
            with pytest.raises(ApiError, match="this upload, the slowest, was dropped") as error:
                await refused
            assert (error.value.code.value, error.value.retry_after) == ("server_busy", 1)
            # The place that it left is taken again.
            slow.append(await started(bodies, PIECE))
        for sender, reading in slow[3:]:
            await sender.send(end=True)
            assert await reading == PIECE
        assert bodies._left == MOST_UNFINISHED * len(PIECE)

    asyncio.run(test())


def test_clients_that_leave_hold_nothing() -> None:
    async def test() -> None:
        bodies = Bodies(len(PIECE))
        for _ in range(3 * MOST_UNFINISHED):
            _, reading = await started(bodies, PIECE)
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        assert not bodies._held
        assert bodies._left == MOST_UNFINISHED * len(PIECE)

    asyncio.run(test())


def test_large_bodies_have_their_turns_one_after_the_other_in_threads() -> None:
    async def test() -> None:
        bodies = Bodies(1 << 20)
        steps: list[tuple[str, bool]] = []

        async def judge(name: str, size: int) -> None:
            async with bodies.turn(size) as step:
                for _ in range(3):
                    await step(lambda: steps.append((name, threading.current_thread() is threading.main_thread())))

        await asyncio.gather(judge("A", SMALL + 1), judge("B", SMALL + 1), judge("small", SMALL))
        assert [step for step in steps if step[0] != "small"] == [("A", False)] * 3 + [("B", False)] * 3
        assert steps.count(("small", True)) == 3

    asyncio.run(test())


def test_a_body_of_many_values_is_refused_by_the_app() -> None:
    client = Client()
    error = error_of(client.chat(**{f"k{i}": 0 for i in range(500_000)}), 413, "request_too_large")
    assert "32768 keys" in error["message"]
    assert client.chat(**{f"k{i}": 0 for i in range(1000)}).status_code == 200
    assert client.chat(messages=[{"role": "user", "content": "{[,:" * 1000}] * 500).status_code == 200


def test_the_app_judges_large_bodies_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def noted(raw: bytes) -> Any:
        threads.append((len(raw) > SMALL, threading.current_thread() is threading.main_thread()))
        return parse_json(raw)

    monkeypatch.setattr(operation, "parse_json", noted)
    client = Client()
    for size in (10, 20_000):
        assert client.chat(**{f"k{i}": 0 for i in range(size)}).status_code == 200
        error_of(client.chat(temperature="x", **{f"k{i}": 0 for i in range(size)}), 400, "invalid_type")
    assert threads == [(False, True), (False, True), (True, False), (True, False)]


JSON, TEXT = (b"content-type", b"application/json"), (b"content-type", b"text/plain")
PAGE = [(b"origin", b"http://127.0.0.1"), (b"sec-fetch-site", b"same-origin")]


@pytest.mark.parametrize("of_any_type", [False, True])
@pytest.mark.parametrize("headers", [[], [JSON], *([mark, JSON] for mark in PAGE)])
def test_json_is_read(headers, of_any_type) -> None:
    require_json({"headers": headers}, of_any_type=of_any_type)


@pytest.mark.parametrize("headers", [[TEXT], [JSON, TEXT], [TEXT, JSON]])
def test_another_type_is_only_read_where_the_type_does_not_matter(headers) -> None:
    require_json({"headers": headers}, of_any_type=True)
    with pytest.raises(ApiError) as failure:
        require_json({"headers": headers})
    assert failure.value.code is ErrorCode.UNSUPPORTED_MEDIA_TYPE


@pytest.mark.parametrize("of_any_type", [False, True])
@pytest.mark.parametrize("mark", PAGE)
@pytest.mark.parametrize("headers", [[], [TEXT], [JSON, TEXT], [TEXT, JSON]])
def test_a_web_page_needs_the_type_that_requires_a_preflight(headers, mark, of_any_type) -> None:
    for order in ([mark, *headers], [*headers, mark]):
        with pytest.raises(ApiError) as failure:
            require_json({"headers": order}, of_any_type=of_any_type)
        assert failure.value.code is ErrorCode.UNSUPPORTED_MEDIA_TYPE
