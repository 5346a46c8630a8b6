"""The default of the KV cache's memory."""

from pathlib import Path

from specvino.engine.openvino.cache_size import default_cache_size


def test_a_container_bounds_it(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(str(8 * 2**30))
    assert default_cache_size(limit) <= 2
    limit.write_text(str(2**30))
    assert default_cache_size(limit) == 1


def test_without_a_container_it_is_of_the_machine(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    assert default_cache_size(limit) >= 1
    limit.write_text("max\n")
    assert default_cache_size(limit) >= 1


def test_a_device_with_memory_of_its_own(tmp_path: Path) -> None:
    assert default_cache_size(tmp_path / "none", device_memory=16 * 2**30) == 4
    assert default_cache_size(tmp_path / "none", device_memory=2**20) == 1
