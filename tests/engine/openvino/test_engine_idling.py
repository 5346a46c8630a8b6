"""An idle model's worker ends, and comes back for the next request."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import psutil
import pytest
from support.conversation import answer, ask, text, until_text
from support.engines import LONG, endless, running
from support.processes import gone

from specvino.engine.errors import EngineRestarted, EngineUnavailable
from specvino.engine.models import ModelSource, resolve
from specvino.engine.openvino.client.memory_budget import MemoryBudget
from specvino.engine.openvino.client.memory_needs import GB
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.processes.memory import Memory

HELLO = "Hello! How can I help you today?"
SOON = 0.01  # seconds


async def idle(engine: OpenVINOEngine) -> None:
    while engine.stats().state != "idle" or engine.pids["worker"]:  # noqa: ASYNC110 - only tests wait for this
        await asyncio.sleep(0.01)


def worker(engine: OpenVINOEngine) -> psutil.Process:
    pid = engine.pids["worker"]
    assert pid is not None
    return psutil.Process(pid)


def test_it_comes_back_and_answers_the_same(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        await idle(engine)
        for _ in range(2):
            answers = await asyncio.gather(*(answer(engine, ask("hello")) for _ in range(3)))
            assert {text(one) for one in answers} == {HELLO}
            await idle(engine)
        assert engine.model.context_length == tiny_text.context_length
        assert await engine.tokenize(["hello"], add_special_tokens=False)
        await engine.check(ask("hello"))
        assert engine.stats().state == "idle"
        assert engine.stats().restarts == 0

    running(tiny_text, test, idle_unload=SOON)


def test_it_comes_back_without_a_prompt(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        await idle(engine)
        await engine.loaded()
        await idle(engine)  # and is idle again, by itself
        assert engine.stats().restarts == 0

    running(tiny_text, test, idle_unload=SOON)


def test_one_at_work_stays_and_its_process_ends_afterwards(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        stream = engine.generate(ask("hello", **LONG))
        await until_text(stream)
        process = worker(engine)
        await asyncio.sleep(20 * SOON)
        assert process.is_running()
        await stream.aclose()
        await idle(engine)
        assert gone(process)

    running(endless(tiny_text), test, idle_unload=SOON)


def test_processes_on_demand_end_too(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        with_scores = ask("hello", max_tokens=8, logit_bias=((1, -100.0),))
        before = await answer(engine, with_scores)
        await idle(engine)
        assert "full_logits" not in engine.pids
        assert await answer(engine, with_scores) == before

    running(tiny_text, test, idle_unload=SOON)


def test_one_that_dies_after_it_came_back_is_replaced(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        await idle(engine)
        stream = engine.generate(ask("hello", **LONG))
        await until_text(stream)
        os.kill(worker(engine).pid, signal.SIGKILL)
        with pytest.raises(EngineRestarted):
            async for _ in stream:
                pass
        await idle(engine)
        assert text(await answer(engine, ask("hello"))) == HELLO
        assert engine.stats().restarts == 1

    running(endless(tiny_text), test, idle_unload=SOON)


def test_a_model_that_is_gone_is_an_error_until_it_is_there_again(tiny_text: ModelSource, tmp_path: Path) -> None:
    shutil.copytree(tiny_text.path, tmp_path / "model")

    async def test(engine: OpenVINOEngine) -> None:
        await idle(engine)
        (tmp_path / "model").rename(tmp_path / "other")
        with pytest.raises(EngineUnavailable, match=r"^The model can't be loaded: \S"):
            await answer(engine, ask("hello"))
        assert engine.stats().state == "idle"
        (tmp_path / "other").rename(tmp_path / "model")
        assert text(await answer(engine, ask("hello"))) == HELLO

    running(resolve(str(tmp_path / "model")), test, idle_unload=SOON)


def test_a_preloaded_process_that_has_no_room_after_an_unload_is_tried_again(tiny_text: ModelSource) -> None:
    """The worker that was loaded before it ends, so that there aren't two after the next attempt."""
    free = 8 * GB
    budget = MemoryBudget(lambda: Memory(8 * GB, free))

    async def test(engine: OpenVINOEngine) -> None:
        nonlocal free
        await idle(engine)
        free = 0
        for _ in range(2):
            with pytest.raises(EngineUnavailable, match=r"can't be loaded: --full-logits preload: .* are free now"):
                await answer(engine, ask("hello"))
            assert engine.pids["worker"] is None
        free = 8 * GB
        assert text(await answer(engine, ask("hello"))) == HELLO

    running(tiny_text, test, cache_size=1, full_logits="preload", budget=budget, idle_unload=SOON)


def test_its_end_while_it_loads(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        await idle(engine)
        request = asyncio.create_task(answer(engine, ask("hello")))
        while engine.pids["worker"] is None:  # noqa: ASYNC110 - only tests wait for this
            await asyncio.sleep(0.001)
        process = worker(engine)
        await engine.close()
        with pytest.raises(EngineUnavailable, match="shutting down"):
            await request
        assert gone(process)

    running(tiny_text, test, idle_unload=SOON)
