"""The memory of the machine and of a container: the KV cache's default, and what is left for a further process."""

from pathlib import Path

import psutil
import pytest

from specvino.engine.openvino.client.memory import available, default_cache_size, device_memory, needed_to_load
from specvino.engine.openvino.messages.options import PipelineOptions


def test_a_container_bounds_it(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text(str(8 * 2**30))
    assert default_cache_size(tmp_path) <= 2
    limit.write_text(str(2**30))
    assert default_cache_size(tmp_path) == 1


def test_without_a_container_it_is_of_the_machine(tmp_path: Path) -> None:
    assert default_cache_size(tmp_path) >= 1
    (tmp_path / "memory.max").write_text("max\n")
    assert default_cache_size(tmp_path) >= 1


def test_a_device_with_memory_of_its_own(tmp_path: Path) -> None:
    assert default_cache_size(tmp_path / "none", device_memory=16 * 2**30) == 4
    assert default_cache_size(tmp_path / "none", device_memory=2**20) == 1


def test_what_a_container_has_left(tmp_path: Path) -> None:
    machine = available(tmp_path)
    assert 0 < machine <= psutil.virtual_memory().total
    (tmp_path / "memory.max").write_text(f"{10 * 2**20}\n")
    (tmp_path / "memory.current").write_text(f"{8 * 2**20}\n")
    (tmp_path / "memory.stat").write_text(f"anon {5 * 2**20}\ninactive_file {2**20}\nactive_file {2**20}\n")
    assert available(tmp_path) == 4 * 2**20
    (tmp_path / "memory.max").write_text("max\n")
    assert available(tmp_path) > 4 * 2**20


def test_larger_weights_need_more(tmp_path: Path) -> None:
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"\0" * 2**20)
    folder = tmp_path / "folder"
    folder.mkdir()
    empty = needed_to_load(folder)
    (folder / "openvino_model.bin").write_bytes(b"\0" * 2**20)
    assert needed_to_load(folder) == needed_to_load(gguf) > empty + 2**20


@pytest.mark.parametrize("device", ["CPU", "AUTO:CPU"])
def test_a_cpu_has_the_machines_memory(device: str) -> None:
    assert device_memory(PipelineOptions(plugin_config={"INFERENCE_NUM_THREADS": 1}, device=device)) is None


def test_what_is_wrong_is_one_line() -> None:
    with pytest.raises(ValueError, match=r"^'TPU' isn't an OpenVINO device of this machine; available: .*CPU.*$"):
        device_memory(PipelineOptions(device="TPU"))
    with pytest.raises(ValueError, match=r"^NOPE isn't a property of OpenVINO's CPU plugin; known: \S+, .*$"):
        device_memory(PipelineOptions(plugin_config={"NOPE": 1}))
