"""The memory of an engine's processes: what is planned for them, and requests for which there is no room."""

import asyncio
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from support.conversation import answer, ask, text
from support.engines import running

from specvino.engine.errors import EngineUnavailable, InsufficientMemory, ModelLoadError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.client.memory_budget import GB, MemoryBudget, needs
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.processes.memory import Memory, resident
from specvino.engine.protocol import Engine

SCORED = replace(ask("hello", max_tokens=4), logprobs=True, top_logprobs=3)


def mapped(pid: int) -> int:
    """Returns how many bytes of the weights' file are in a process's memory."""
    maps = psutil.Process(pid).memory_maps()
    return sum(file.rss for file in maps if file.path.endswith("openvino_model.bin"))


def test_weights_are_not_kept_twice(smollm2: ModelSource) -> None:
    planned = needs(smollm2.path)
    flags = set(Path("/proc/cpuinfo").read_text("utf-8").split())
    if "avx512f" not in flags:
        # The matrices of the vocabulary are used as they are in the file, and nowhere else: 60 of smollm2's 91 MiB (AMD
        # EPYC with AVX2, OpenVINO 2026.4.1).
        share = 3 / 4
    elif "avx512_bf16" in flags and "amx_bf16" not in flags:
        share = 1 / 2  # 39 of 91 MiB, in both processes and whenever measured (AMD EPYC, OpenVINO 2026.4.1)
    else:
        share = 1 / 4

    async def test(engine: Engine) -> None:
        assert isinstance(engine, OpenVINOEngine)
        await answer(engine, SCORED)
        await answer(engine, ask("hello " * 300, max_tokens=4))
        for name, most in (("worker", planned.worker + GB), ("full_logits", planned.full_logits)):
            pid = engine.pids[name]
            assert pid is not None
            assert mapped(pid) < planned.weights * share
            assert 0 < resident(pid) < most

    running(smollm2, test, cache_size=1)


def test_a_machine_that_is_too_small_refuses_what_needs_a_second_copy(tiny_text: ModelSource) -> None:
    budget = MemoryBudget(lambda: Memory(2 * GB, 2 * GB))

    async def test(engine: Engine) -> None:
        assert engine.model.full_logits
        (lack,) = engine.model.lacks_memory
        assert "top_logprobs" in lack
        with pytest.raises(InsufficientMemory, match=r"0\.8 GB of memory for a second copy .* leaves 0\.3 GB"):
            await answer(engine, SCORED)
        assert text(await answer(engine, ask("hello"))) == "Hello! How can I help you today?"
        assert isinstance(engine, OpenVINOEngine)
        assert "full_logits" not in engine.pids

    running(tiny_text, test, cache_size=1, budget=budget)


def test_one_process_has_room_at_a_time(tiny_text: ModelSource) -> None:
    """Two models, and room for one of their processes on demand: whoever comes second may try again."""
    free = 4 * GB
    budget = MemoryBudget(lambda: Memory(8 * GB, free))

    async def test(first: Engine) -> None:
        second = OpenVINOEngine(tiny_text, cache_size=1, budget=budget)
        await second.start()
        assert not second.model.lacks_memory
        answers = await asyncio.gather(answer(first, SCORED), answer(second, SCORED), return_exceptions=True)
        refused = [error for error in answers if isinstance(error, EngineUnavailable)]
        assert len(refused) == 1, answers
        assert refused[0].retry_after > 0
        assert text(await answer(second, ask("hello"))) == "Hello! How can I help you today?"
        await second.close()

    running(tiny_text, test, cache_size=1, budget=budget)


def test_a_preloaded_process_runs_from_the_start(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        assert isinstance(engine, OpenVINOEngine)
        pid = engine.pids["full_logits"]
        await answer(engine, SCORED)
        assert engine.pids["full_logits"] == pid

    running(tiny_text, test, full_logits="preload")
    with pytest.raises(ModelLoadError, match=r"--full-logits preload: .* requires 0\.8 GB"):
        running(tiny_text, test, full_logits="preload", budget=MemoryBudget(lambda: Memory(GB, GB)))


def test_without_the_process_the_model_lacks_full_logits(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        assert not engine.model.full_logits
        assert not engine.model.lacks_memory

    running(tiny_text, test, full_logits="off", budget=MemoryBudget(lambda: Memory(GB, GB)))


def test_a_part_of_a_gigabyte_has_its_part_of_the_tokens(tiny_text: ModelSource, tiny_vision: ModelSource) -> None:
    def cache_tokens(source: ModelSource, size: float) -> int:
        sizes = []

        async def test(engine: Engine) -> None:
            sizes.append(engine.stats().cache_tokens)
            await answer(engine, ask("hello"))

        running(source, test, cache_size=size)
        (tokens,) = sizes
        assert tokens is not None
        return tokens

    for source in (tiny_text, tiny_vision):
        assert cache_tokens(source, 0.25) == pytest.approx(cache_tokens(source, 1) / 4, rel=0.01)
