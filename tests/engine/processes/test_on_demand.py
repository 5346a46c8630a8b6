"""A process that is there while somebody needs it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from specvino.engine.errors import EngineUnavailable, ModelLoadError
from specvino.engine.processes.on_demand import OnDemand


class Process:
    """Stands in for a Supervisor."""

    def __init__(self, failure: ModelLoadError | None = None) -> None:
        self.pid = 1
        self.failure = failure
        self.loaded = asyncio.Event()
        self.closed = asyncio.Event()

    async def start(self) -> None:
        await self.loaded.wait()
        if self.failure:
            raise self.failure

    def check_ready(self) -> None:
        assert not self.closed.is_set()

    async def close(self) -> None:
        self.closed.set()


def on_demand(
    made: list[Process], patience: float, failure: ModelLoadError | None = None, *, refusals: int = 0
) -> OnDemand:
    refusing = iter(range(refusals))

    def make() -> Any:
        for _ in refusing:
            raise EngineUnavailable("no room", 30)
        made.append(Process(failure))
        return made[-1]

    return OnDemand(make, patience)


@asynccontextmanager
async def loaded(process: OnDemand, made: list[Process]) -> AsyncIterator[None]:
    """Uses a process that loads at once."""
    asyncio.get_running_loop().call_soon(lambda: made[-1].loaded.set())
    async with process.use():
        yield


async def use(process: OnDemand) -> Any:
    async with process.use() as used:
        return used


def test_it_starts_once_for_all_who_wait_also_when_one_goes() -> None:
    async def test() -> None:
        made: list[Process] = []
        process = on_demand(made, patience=3600)
        assert process.pid is None
        first, second = asyncio.create_task(use(process)), asyncio.create_task(use(process))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        made[0].loaded.set()
        assert await second is made[0]
        assert await use(process) is made[0]
        await process.close()
        assert (len(made), made[0].closed.is_set(), process.pid) == (1, True, None)

    asyncio.run(test())


def test_it_ends_when_nobody_needs_it_and_comes_again() -> None:
    async def test() -> None:
        made: list[Process] = []
        process = on_demand(made, patience=0)
        for number in range(2):
            async with loaded(process, made):
                await asyncio.sleep(0)
                assert not made[number].closed.is_set()
            await made[number].closed.wait()
        await process.close()

    asyncio.run(test())


def test_one_that_cannot_load_is_tried_again() -> None:
    async def test() -> None:
        made: list[Process] = []
        process = on_demand(made, 3600, ModelLoadError("no memory"))
        for _ in range(2):
            with pytest.raises(EngineUnavailable, match="no memory"):
                async with loaded(process, made):
                    pass
        assert len(made) == 2
        await process.close()

    asyncio.run(test())


def test_it_is_not_started_without_memory_for_it() -> None:
    async def test() -> None:
        made: list[Process] = []
        process = on_demand(made, 3600, refusals=1)
        with pytest.raises(EngineUnavailable, match="no room"):
            await use(process)
        wanted = [process.wanted]
        async with loaded(process, made):
            assert len(made) == 1
            wanted.append(process.wanted)
        assert wanted == [False, True]
        await process.close()

    asyncio.run(test())
