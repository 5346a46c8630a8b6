"""The memory of an engine's processes: what is planned for them, and requests for which there is no room."""

import asyncio
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from support.conversation import answer, ask, text
from support.engines import running
from support.qwen3_gguf import write

from specvino.engine.errors import EngineUnavailable, InsufficientMemory, ModelLoadError, UnusableModel
from specvino.engine.models import ModelSource, resolve
from specvino.engine.openvino.client.memory_budget import MemoryBudget
from specvino.engine.openvino.client.memory_needs import CACHE_STEP, GB, needs
from specvino.engine.openvino.client.memory_plan import choose_cache
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.processes.memory import Memory, resident
from specvino.engine.protocol import Engine

SCORED = replace(ask("hello", max_tokens=4), logprobs=True, top_logprobs=3)


def mapped(pid: int) -> int:
    """Returns how many bytes of the weights' file are in a process's memory."""
    maps = psutil.Process(pid).memory_maps()
    return sum(file.rss for file in maps if file.path.endswith("openvino_model.bin"))


def test_weights_are_not_kept_twice(smollm2: ModelSource) -> None:
    planned = needs(smollm2)
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
        await answer(engine, ask("hello " * 300, n=32, max_tokens=4))  # in steps of as many as are planned
        filled = 34 * 400 * planned.cached  # if no choice finds the prompt in the cache
        most_of_worker = planned.worker + planned.reading(GB) + filled
        for name, most in (("worker", most_of_worker), ("full_logits", planned.full_logits)):
            pid = engine.pids[name]
            assert pid is not None
            assert mapped(pid) < planned.weights * share
            assert 0 < resident(pid) < most

    running(smollm2, test, cache_size=1)


@pytest.mark.exhaustive
def test_a_full_cache_takes_what_is_planned(smollm2: ModelSource) -> None:
    """Ten thousand tokens fit; then many requests have the longest prompt of all at once."""
    planned = needs(smollm2)

    async def test(engine: Engine) -> None:
        assert isinstance(engine, OpenVINOEngine)
        for start in range(12):
            await answer(engine, ask(f"{start} " + "hello " * 1_000, max_tokens=4))
        await answer(engine, ask("hello " * 5_000, max_tokens=4))
        await answer(engine, ask("hello " * 5_000, n=16, max_tokens=4))
        pid = engine.pids["worker"]
        assert pid is not None
        assert planned.worker / 2 + CACHE_STEP < resident(pid) < planned.with_cache(CACHE_STEP)

    running(smollm2, test, cache_size=CACHE_STEP / GB)


def test_a_machine_that_is_too_small_refuses_what_needs_a_second_copy(tiny_text: ModelSource) -> None:
    budget = MemoryBudget(lambda: Memory(2 * GB, 2 * GB))

    async def test(engine: Engine) -> None:
        assert engine.model.full_logits
        (lack,) = engine.lacks_memory
        assert "top_logprobs" in lack
        with pytest.raises(InsufficientMemory, match=r"0\.5 GB of memory for a second copy .* leaves 0\.3 GB"):
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
        assert not second.lacks_memory
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
    with pytest.raises(ModelLoadError, match=r"--full-logits preload: .* requires 0\.5 GB"):
        running(tiny_text, test, full_logits="preload", budget=MemoryBudget(lambda: Memory(GB, GB)))


def test_without_the_process_the_model_lacks_full_logits(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        assert not engine.model.full_logits
        assert not engine.lacks_memory

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


@pytest.fixture
def unconverted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSource:
    """A GGUF file, and a cache that can't be written: a file is where its folder would be."""
    (tmp_path / "cache").write_text("")
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path / "cache"))
    return resolve(str(write(tmp_path / "model.gguf")))


def test_a_file_that_is_not_converted_has_the_cache_that_it_leaves_room_for(unconverted: ModelSource) -> None:
    """OpenVINO makes no cache of less than a gigabyte there, and four gigabytes have no room."""

    async def test(engine: Engine) -> None:
        assert isinstance(engine, OpenVINOEngine)
        assert engine._load.cache_size == 1
        assert "KV cache 1 GB" in " ".join(engine.model.described)

    small = Memory(int(2.2 * GB), int(2.2 * GB))
    running(unconverted, test, cache_size=4, cache_may_shrink=True, budget=MemoryBudget(lambda: small))
    with pytest.raises(ModelLoadError, match=r"4 GB \(--cache-size\) is .* more .*; --cache-size 1 fits"):
        running(unconverted, test, cache_size=4, budget=MemoryBudget(lambda: small))


def test_a_file_that_is_not_converted_and_has_no_room_is_refused(unconverted: ModelSource) -> None:
    """As it would be loaded; its conversion has room."""
    small = Memory(int(1.6 * GB), int(1.6 * GB))
    assert choose_cache([needs(unconverted, converted=True)], small, None) == 0.375

    async def run() -> None:
        budget = MemoryBudget(lambda: small)
        engine = OpenVINOEngine(unconverted, cache_size=0.375, cache_may_shrink=True, budget=budget)
        with pytest.raises(UnusableModel, match=r"isn't converted .* GB of disk in .*, or 1\.\d GB of memory$"):
            await engine.start()
        assert engine.stats().state == "closed"

    asyncio.run(run())


def test_a_model_counts_from_before_another_one_starts(tiny_text: ModelSource) -> None:
    """What the first one lacks is known at its start, and its plan promises no second copy."""
    budget = MemoryBudget(lambda: Memory(3 * GB, 3 * GB))
    first, second = (OpenVINOEngine(tiny_text, cache_size=1, budget=budget) for _ in range(2))
    alone = OpenVINOEngine(tiny_text, cache_size=1, budget=MemoryBudget(lambda: Memory(3 * GB, 3 * GB)))
    assert not alone.lacks_memory
    assert first.lacks_memory == second.lacks_memory != ()
    assert first.lacks_memory[0] in first._workers.plan()
