import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.odd_child import Echo, Order
from support.processes import gone, leaving_no_process

from specvino.engine.errors import EngineUnavailable, ModelLoadError
from specvino.engine.processes.supervisor import Supervisor

PATIENCE = 300

# Where a test isn't about silence, that doesn't end a child within the patience.
NEVER = 10 * PATIENCE

TESTS = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _children_find_support(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


class Watched:
    """A supervisor of an odd child, and what it told."""

    def __init__(self, first_order: str = "", stall_timeout: float = NEVER) -> None:
        self.busy = False
        self.messages: asyncio.Queue[Echo] = asyncio.Queue()
        self.lost: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()
        self.supervisor = Supervisor(
            "odd",
            "support.odd_child",
            Order(first_order),
            incoming=Echo,
            on_message=self.messages.put_nowait,
            on_lost=lambda reason, stalled: self.lost.put_nowait((reason, stalled)),
            busy=lambda: self.busy,
            stall_timeout=stall_timeout,
        )

    async def ready(self) -> None:
        while self.supervisor.state != "ready":  # noqa: ASYNC110 - nobody but tests waits for it
            await asyncio.sleep(0.01)


def supervised(test: Callable[[Watched], Awaitable[Any]], **settings: Any) -> None:
    async def run() -> None:
        watched = Watched(**settings)
        await watched.supervisor.start()
        try:
            async with asyncio.timeout(PATIENCE):
                await test(watched)
        finally:
            await watched.supervisor.close()

    with leaving_no_process():
        asyncio.run(run())


def test_messages_go_both_ways() -> None:
    async def test(watched: Watched) -> None:
        watched.supervisor.send(Order("one"))
        watched.supervisor.send(Order("two"))
        assert [await watched.messages.get(), await watched.messages.get()] == [Echo("one"), Echo("two")]

    supervised(test)


def test_a_dead_child_is_started_again() -> None:
    async def test(watched: Watched) -> None:
        watched.supervisor.send(Order("last word"))
        watched.supervisor.send(Order("die"))
        assert await watched.messages.get() == Echo("last word")
        assert await watched.lost.get() == (
            "the odd process was killed by SIGKILL, as the system does if memory runs out",
            False,
        )
        await watched.ready()
        watched.supervisor.send(Order("again"))
        assert await watched.messages.get() == Echo("again")
        assert watched.supervisor.restarts == 1

    supervised(test)


def test_a_child_that_keeps_dying_is_started_more_and_more_slowly() -> None:
    async def test(watched: Watched) -> None:
        loop = asyncio.get_running_loop()
        gaps = []
        for _ in range(3):
            watched.supervisor.send(Order("die"))
            await watched.lost.get()
            lost = loop.time()
            with pytest.raises(EngineUnavailable) as refusal:
                watched.supervisor.check_ready()
            assert refusal.value.retry_after >= 1
            await watched.ready()
            gaps.append(loop.time() - lost)
        assert gaps[1] >= 0.5
        assert gaps[2] >= 1.0
        assert watched.supervisor.restarts == 3

    supervised(test)


def test_what_a_child_says_of_its_end_is_the_reason() -> None:
    async def test(watched: Watched) -> None:
        watched.supervisor.send(Order("raise"))
        assert await watched.lost.get() == ("first line", False)

    supervised(test)


@pytest.mark.parametrize("order", ["sleep", "hold"])
def test_a_silent_child_that_owes_an_answer_is_killed(order: str) -> None:
    async def test(watched: Watched) -> None:
        watched.supervisor.send(Order(order))
        watched.busy = True
        assert await watched.lost.get() == ("the odd process was silent for 0.5 s", True)
        watched.busy = False
        await watched.ready()

    supervised(test, stall_timeout=0.5)


def test_a_silent_child_that_owes_nothing_is_left_alone() -> None:
    async def test(watched: Watched) -> None:
        await asyncio.sleep(0.5)
        watched.supervisor.send(Order("still here"))
        assert await watched.messages.get() == Echo("still here")
        assert watched.supervisor.restarts == 0

    supervised(test, stall_timeout=0.1)


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_ctrl_c_is_for_the_server(number: signal.Signals) -> None:
    async def test(watched: Watched) -> None:
        assert watched.supervisor.pid is not None
        assert os.getpgid(watched.supervisor.pid) != os.getpgid(0)
        os.kill(watched.supervisor.pid, number)
        watched.supervisor.send(Order("still here"))
        assert await watched.messages.get() == Echo("still here")

    supervised(test)


@pytest.mark.parametrize(
    ("order", "reason"),
    [("raise", "first line"), ("die", "the odd process was killed by SIGKILL, as the system does if memory runs out")],
)
def test_a_first_load_that_fails_raises(order: str, reason: str) -> None:
    async def run() -> None:
        watched = Watched(order)
        with pytest.raises(ModelLoadError) as failure:
            await watched.supervisor.start()
        assert str(failure.value) == reason
        assert watched.supervisor.state == "closed"
        assert watched.lost.empty()
        await watched.supervisor.close()

    asyncio.run(run())


def test_the_child_dies_with_a_killed_server_whatever_it_does() -> None:
    command = [sys.executable, "-m", "support.odd_parent"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    assert gone(child)
