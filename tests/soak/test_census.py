"""Leaks are found, and a burst or a cache that fills is none."""

import pytest

from soak.census import (
    FLAT_BYTES,
    KEPT,
    SLACK,
    Census,
    Memory,
    grown_counts,
    grown_memory,
    metric,
    new_tokens,
    role,
    slope,
)

MB = 2**20


def censuses(*files: int) -> list[Census]:
    return [Census(float(second), {"files": count}, 0, 100 * second) for second, count in enumerate(files)]


def memory(name: str, *rss: float, pid: int = 1) -> list[Memory]:
    return [Memory(float(second), name, pid, int(value)) for second, value in enumerate(rss)]


@pytest.mark.parametrize(
    "files",
    [
        (),
        (10, 20),
        (10, 40, 41, 40, 41, 40),
        (10, 40, 41, 80, 41, 42),
        (10, 40, 41, 41, 41, 41 + SLACK),
    ],
    ids=["none", "too few", "flat", "a burst", "a little"],
)
def test_no_leak_of_files(files: tuple[int, ...]) -> None:
    assert list(grown_counts(censuses(*files))) == []


def test_a_leak_of_files() -> None:
    (sentence,) = grown_counts(censuses(10, 40, 44, 48, 52, 56))
    assert sentence == "files grew: at most 44 in the first half, 52 at the end"


def test_a_process_that_is_first_needed_in_the_second_half_is_no_leak() -> None:
    first = [Census(float(second), {"server: files": 40}, 0, 0) for second in range(3)]
    needed = {"server: files": 40, "full logits: processes": 1, "full logits: files": 30}
    assert list(grown_counts([*first, *(Census(float(second), needed, 0, 0) for second in range(3, 6))])) == []
    many = needed | {"full logits: processes": 6}
    (sentence,) = grown_counts([*first, *(Census(float(second), many, 0, 0) for second in range(3, 6))])
    assert sentence == "full logits: processes grew: at most 1 in the first half, 6 at the end"


def test_memory_that_grows_in_the_first_half_is_no_leak() -> None:
    assert list(grown_memory(memory("server", *range(0, 100 * MB, MB), *[100 * MB] * 100), 0)) == []


def test_memory_that_goes_up_and_down_is_no_leak() -> None:
    assert list(grown_memory(memory("server", *[200 * MB, 290 * MB, 210 * MB, 250 * MB] * 50), 0)) == []


def test_what_a_burst_has_left_is_no_leak() -> None:
    burst = [300 * MB] * 100 + [200 * MB] * 50 + [280 * MB] * 50
    assert list(grown_memory(memory("server", *burst), 0)) == []


def test_a_short_run_says_nothing_of_memory() -> None:
    assert list(grown_memory(memory("server", *[second * 100 * MB for second in range(150)]), 0)) == []


def test_a_process_that_loads_is_no_leak() -> None:
    loading = memory("server", *[200 * MB] * 200) + [
        Memory(float(second), "undrafted worker", 2, min(500, 10 * (second - 100)) * MB) for second in range(100, 200)
    ]
    assert list(grown_memory(loading, 0)) == []


def test_a_leak_of_memory() -> None:
    rising = memory("server", *[200 * MB + second * MB // 2 for second in range(200)])
    assert list(grown_memory(rising, 1000 * MB)) == ["server grew by 50 MB in 99 s, to 300 MB"]


def test_a_process_that_was_replaced_has_no_slope() -> None:
    replaced = [
        Memory(float(second), "worker", second // 50, 200 * MB + (second % 50) * 10 * MB) for second in range(200)
    ]
    assert list(grown_memory(replaced, 0)) == []


def test_the_worker_may_fill_its_cache_and_keep_grammars_but_no_more() -> None:
    rising = memory("worker", *[400 * MB + second * 4 * MB for second in range(200)])
    grown = 4 * MB * 99
    assert list(grown_memory(rising, grown - KEPT["worker"])) == []
    assert len(list(grown_memory(rising, grown - KEPT["worker"] - 3 * FLAT_BYTES))) == 1


def test_tokens_of_the_second_half() -> None:
    assert new_tokens([]) == 0
    assert new_tokens(censuses(1, 1, 1, 1, 1)) == 400 - 100


def test_the_slope_of_a_line() -> None:
    assert slope([(0, 5), (1, 7), (2, 9)]) == pytest.approx(2)
    assert slope([(3, 5), (3, 7)]) == 0


def test_roles() -> None:
    child = ["python", "-P", "-m", "specvino.engine.openvino.worker", "16", "17", "undrafted worker"]
    assert role(child) == "undrafted worker"
    assert role(["pip", "download", "x"]) == "pip download x"


def test_metrics_are_read() -> None:
    page = '# HELP a b\nvllm:x{engine="0"} 2.0\nvllm:x{engine="1"} 3.0\nvllm:xy{engine="1"} 9.0\nvllm:z 4.0\n'
    assert metric(page, "vllm:x") == 5
    assert metric(page, "vllm:z") == 4
    assert metric(page, "vllm:none") == 0
