"""Plans of memory: the KV cache, what is refused, and the lines of the log."""

from dataclasses import replace
from pathlib import Path

import pytest

from specvino.engine.errors import ModelLoadError
from specvino.engine.openvino.client.memory_budget import MemoryBudget
from specvino.engine.openvino.client.memory_needs import GB, Needs
from specvino.engine.openvino.client.memory_plan import Copy, choose_cache, fitting_cache, plan
from specvino.engine.processes.memory import Memory

MB = 2**20
SMALL = Needs(weights=GB // 8, worker=GB // 2, undrafted=GB // 2, full_logits=GB)
LARGE = Needs(weights=5 * GB, worker=8 * GB, undrafted=8 * GB, full_logits=9 * GB)


def machine(total: float, free: float | None = None) -> Memory:
    return Memory(int(total * GB), int((total if free is None else free) * GB))


@pytest.mark.parametrize(
    ("models", "memory", "size"),
    [
        ([SMALL], machine(24), 6),  # a quarter
        ([SMALL], machine(24, 4), 1),  # beside a full-logits process
        ([SMALL], machine(24, 3.5), 1),  # a full-logits process has room only while the cache isn't full
        ([SMALL], machine(2), 0.5),
        ([SMALL], machine(1.25), 0.25),
        ([SMALL], machine(24, 1), 0.125),  # at least
        ([LARGE], machine(16), 4),  # no room for a full-logits process
        ([LARGE], machine(32), 8),
        ([LARGE], machine(22), 4),
        ([SMALL, SMALL], machine(24), 3),
        ([SMALL, LARGE], machine(16), 2),
    ],
)
def test_the_cache_gets_what_is_left(models: list[Needs], memory: Memory, size: float) -> None:
    assert choose_cache(models, memory, None) == size


def test_weights_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ModelLoadError, match=r"take 5\.0 GB and .* 0\.5 GB, but only 3\.0 GB of the 8\.0 GB of this"):
        choose_cache([LARGE], machine(8, 3), None)
    with pytest.raises(ModelLoadError, match="of its container are free"):
        choose_cache([LARGE], Memory(4 * GB, 4 * GB, owner="its container"), None)


def test_a_cache_that_does_not_fit_is_refused() -> None:
    assert choose_cache([SMALL], machine(8), 7) == 7
    with pytest.raises(ModelLoadError, match=r"8 GB \(--cache-size\) doesn't fit .*; --cache-size 7 does"):
        choose_cache([SMALL], machine(8), 8)
    with pytest.raises(ModelLoadError, match="leave the option out, or use a smaller"):
        choose_cache([SMALL], machine(1), 1)
    with pytest.raises(ModelLoadError, match=r"0\.5 GB, the smallest KV cache 0\.1 GB, .* the 1\.1 GB of this machine"):
        choose_cache([SMALL], machine(1.1), None)


# 20 GB for each million tokens of the longest context.
READING = replace(SMALL, read=20_000, context=100_000, cached=50_000)


def test_reading_the_contexts_takes_memory_beside_the_cache() -> None:
    """A cache of 2 GB has 42,949 tokens, which take 0.8 GB to read."""
    assert READING.with_cache(2 * GB) == GB // 2 + 2 * GB + 42_949 * 20_000
    assert replace(READING, context=20_000).with_cache(2 * GB) == GB // 2 + 2 * GB + 20_000 * 20_000
    assert READING.with_cache(0) - GB // 2 == 100_000 * 20_000  # a cache without a limit has room for the context
    assert READING.with_cache(GB // 8) - GB // 2 - GB // 8 == 8_192 * 20_000  # of several prompts
    assert choose_cache([SMALL], machine(24, 7), None) == 4
    assert choose_cache([READING], machine(24, 7), None) == 3
    with pytest.raises(ModelLoadError, match="--cache-size 5 does"):
        choose_cache([READING], machine(8), 6)


def test_a_cache_is_as_large_as_openvino_makes_it() -> None:
    """With a draft model each of the two has at least a gigabyte."""
    drafting = replace(SMALL, least_cache=2 * GB)
    assert choose_cache([drafting], machine(24), None) == 6
    assert choose_cache([drafting], machine(4), None) == 2
    with pytest.raises(ModelLoadError, match=r"the smallest KV cache 2\.0 GB"):
        choose_cache([drafting], machine(2), None)


def of_worker(total: float, needs: Needs, cache: float) -> MemoryBudget:
    budget = MemoryBudget(lambda: machine(total), resident=lambda pid: 0)
    budget.add(lambda: needs.with_cache(needs.cache_of(cache)), lambda: None)
    return budget


UNCONVERTED = replace(SMALL, worker=GB, least_cache=GB, unconverted=Path(__file__), preprocess=GB // 4)


def test_a_cache_shrinks_to_what_fits_beside_the_model_as_it_is_loaded() -> None:
    assert fitting_cache(of_worker(8, SMALL, 4), SMALL, 4, may_shrink=False) == 4
    assert fitting_cache(of_worker(4, UNCONVERTED, 4), UNCONVERTED, 4, may_shrink=True) == 2
    with pytest.raises(ModelLoadError, match=r"4 GB \(--cache-size\) is 1\.5 GB more .*; --cache-size 2 fits"):
        fitting_cache(of_worker(4, UNCONVERTED, 4), UNCONVERTED, 4, may_shrink=False)


def test_what_has_no_room_without_its_conversion_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_CACHE", "/a/full/disk")
    with pytest.raises(ModelLoadError) as refusal:
        fitting_cache(of_worker(1.6, UNCONVERTED, 0.5), UNCONVERTED, 0.5, may_shrink=True)
    assert str(refusal.value).startswith(
        f"{__file__} isn't converted to OpenVINO's format (a warning says why), and as it is"
    )
    assert "2.2 GB of memory with the smallest KV cache, 0.9 GB more than" in str(refusal.value)
    assert "0.0 GB of disk in /a/full/disk/converted (SPECVINO_CACHE" in str(refusal.value)
    assert str(refusal.value).endswith("or 2.5 GB of memory")
    with pytest.raises(ModelLoadError, match=r"the model takes 0\.6 GB with the smallest KV cache, 0\.1 GB more"):
        fitting_cache(of_worker(1, SMALL, 0.5), SMALL, 0.5, may_shrink=True)


def test_the_lines_name_all_that_takes_memory() -> None:
    budget = of_worker(8, UNCONVERTED, 1)
    copies = [Copy("One kind", GB, GB), Copy("Another kind", 2 * GB, GB), Copy("A large kind", 8 * GB, GB)]
    free, worker, tokenizer, one, other, large, left = plan(budget, UNCONVERTED, GB, copies, preloaded=True)
    assert free == "8.0 GB of 8.0 GB are free, and the server's other processes take up to 0.5 GB"
    assert worker == (
        "the worker takes 1.0 GB (the weights 0.1 GB), up to 1.0 GB for its KV cache, and up to 0.0 GB to read "
        "prompts' contexts"
    )
    assert tokenizer == "reading the tokenizer of a GGUF file takes 0.2 GB"
    assert one == (
        "One kind requires a second copy of the model: 1.0 GB, and at least 1.0 GB more for what it computes. It is "
        "loaded at the start"
    )
    assert other.startswith("Another kind requires a second copy of the model: 2.0 GB")
    assert other.endswith("The first one loads it, which takes 6 to 11 s of CPU time")
    assert large.startswith("A large kind requires 9.0 GB of memory for a second copy")
    assert left == "5.5 GB are left for processes on demand and for other programs"
    busy = MemoryBudget(lambda: machine(8, 1), resident=lambda pid: 0)
    assert plan(busy, SMALL, 0, [], preloaded=False)[-1].startswith("0.5 GB are left")
    busy.add(lambda: GB, lambda: None)
    assert plan(busy, SMALL, 0, [], preloaded=False)[-1] == (
        "0.5 GB are missing if the KV cache is full, as long as other programs run"
    )
