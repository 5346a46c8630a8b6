"""Unloading an idle model, with a stand-in for its processes."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from specvino.engine.errors import EngineUnavailable, ModelLoadError
from specvino.engine.openvino.client.idling import Idling


class Model:
    """What is done, in `log`; loading waits for `go_on`."""

    def __init__(self, seconds: float | None = 0.0) -> None:
        self.log: list[str] = []
        self.broken = False
        self.is_ready = True
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.idling = Idling(Path("m"), seconds, load=self._load, unload=self._unload, ready=lambda: self.is_ready)

    async def _load(self) -> None:
        self.log.append("load")
        await self.go_on.wait()
        if self.broken:
            raise ModelLoadError("it is gone")

    async def _unload(self) -> None:
        self.log.append("unload")
        await asyncio.sleep(0)

    async def request(self) -> None:
        with self.idling.request():
            await self.idling.loaded()
            self.log.append("request")

    async def loading(self, *, requests: int = 1) -> list[asyncio.Task[None]]:
        """Returns requests that wait until it is loaded, for which `go_on` is missing."""
        self.go_on.clear()
        waiting = [asyncio.create_task(self.request()) for _ in range(requests)]
        await self.until("unload", "load")
        return waiting

    async def until(self, *log: str) -> None:
        while self.log != list(log):  # noqa: ASYNC110 - only tests wait for this
            await asyncio.sleep(0)

    async def unloaded(self) -> None:
        while not self.idling.unloaded:  # noqa: ASYNC110 - only tests wait for this
            await asyncio.sleep(0)


async def idle() -> Model:
    """Returns a model that was unloaded."""
    model = Model()
    model.idling.begin()
    await model.unloaded()
    return model


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(300):
            await test()

    asyncio.run(bounded())


def test_an_idle_model_is_unloaded_and_loaded_for_the_next_request() -> None:
    async def test() -> None:
        model = Model()
        model.idling.begin()
        for _ in range(2):
            await model.unloaded()
            await model.request()
            assert not model.idling.unloaded
        assert model.log == ["unload", "load", "request"] * 2

    run(test)


def test_without_a_time_it_stays() -> None:
    async def test() -> None:
        model = Model(None)
        model.idling.begin()
        await model.request()
        assert model.log == ["request"]

    run(test)


def test_it_is_not_idle_while_there_is_a_request() -> None:
    async def test() -> None:
        model = Model()
        with model.idling.request():
            await model.request()
            await asyncio.sleep(0.05)
            assert model.log == ["request"]
        await model.unloaded()

    run(test)


def test_what_is_being_restarted_is_not_unloaded() -> None:
    async def test() -> None:
        model = Model()
        model.is_ready = False
        model.idling.begin()
        await asyncio.sleep(0.05)
        assert model.log == []
        model.is_ready = True
        await model.unloaded()

    run(test)


def test_requests_wait_for_one_load_and_one_that_leaves_does_not_end_it() -> None:
    async def test() -> None:
        model = await idle()
        requests = await model.loading(requests=3)
        requests[0].cancel()
        await asyncio.wait([requests[0]])
        model.go_on.set()
        await asyncio.gather(*requests[1:])
        assert model.log == ["unload", "load", "request", "request"]

    run(test)


def test_if_all_requests_leave_it_is_unloaded_again() -> None:
    async def test() -> None:
        model = await idle()
        (request,) = await model.loading()
        request.cancel()
        await asyncio.wait([request])
        model.go_on.set()
        await model.until("unload", "load", "unload")

    run(test)


def test_a_model_that_can_not_be_loaded_is_tried_again() -> None:
    async def test() -> None:
        model = await idle()
        model.broken = True
        for _ in range(2):
            with pytest.raises(EngineUnavailable, match=r"^The model can't be loaded: it is gone$") as raised:
                await model.request()
            assert raised.value.retry_after == 30
        model.broken = False
        await model.request()
        assert model.log == ["unload", "load", "load", "load", "request"]

    run(test)


def test_requests_that_wait_at_the_end_are_told() -> None:
    async def test() -> None:
        model = await idle()
        (request,) = await model.loading()
        await model.idling.close()
        with pytest.raises(EngineUnavailable, match="shutting down"):
            await request
        model.idling.begin()
        await asyncio.sleep(0.05)
        assert model.log == ["unload", "load"]

    run(test)
