"""Plans of memory, and the room for processes on demand."""

import os
from pathlib import Path

import pytest

from specvino.engine.errors import EngineUnavailable, InsufficientMemory, ModelLoadError
from specvino.engine.openvino.client.memory_budget import GB, MemoryBudget, Needs, choose_cache, needs
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
    with pytest.raises(ModelLoadError, match=r"the weights take 5\.0 GB, but only 3\.0 GB of the 8\.0 GB of this"):
        choose_cache([LARGE], machine(8, 3), None)
    with pytest.raises(ModelLoadError, match="of its container are free"):
        choose_cache([LARGE], Memory(4 * GB, 4 * GB, owner="its container"), None)


def test_a_cache_that_does_not_fit_is_refused() -> None:
    assert choose_cache([SMALL], machine(8), 7) == 7
    with pytest.raises(ModelLoadError, match=r"8 GB \(--cache-size\) doesn't fit .*; --cache-size 7 does"):
        choose_cache([SMALL], machine(8), 8)
    with pytest.raises(ModelLoadError, match="leave the option out, or take a smaller model"):
        choose_cache([SMALL], machine(1), 1)
    with pytest.raises(ModelLoadError, match=r"takes 0\.5 GB besides .* too much for the 1\.1 GB of this machine"):
        choose_cache([SMALL], machine(1.1), None)


# What the server may still take of its 500 MB.
SERVER = 300 * MB


def of_machine() -> MemoryBudget:
    """Returns a budget in which every process has 200 MB."""
    return MemoryBudget(lambda: machine(8, 6), resident=lambda pid: 200 * MB)


def test_what_may_still_grow_is_counted() -> None:
    budget = of_machine()
    budget.add(4 * GB, lambda: None)  # being restarted
    assert budget.room() == 2 * GB - SERVER
    assert budget.require(GB, "It") == 2 * GB - SERVER
    with pytest.raises(EngineUnavailable, match=r"^It requires 2\.0 GB of memory .* 1\.7 GB are free now"):
        budget.require(2 * GB, "It")
    with pytest.raises(InsufficientMemory, match=r"but the server leaves 3\.5 GB of the 8\.0 GB of this machine"):
        budget.require(4 * GB, "It")


def test_a_process_on_demand_counts_while_it_is_wanted() -> None:
    budget = of_machine()
    wanted = True
    budget.add(4 * GB, os.getpid, lambda: wanted)
    assert budget.room() == 2 * GB - SERVER + 200 * MB  # which the process has already
    assert budget.most() == 8 * GB - 500 * MB
    wanted = False
    assert budget.room() == 6 * GB - SERVER


def test_the_memory_of_a_device_is_not_what_the_machine_counts() -> None:
    """A process has the weights on the device, whatever it has of the machine's memory."""
    budget = MemoryBudget.of_device(8 * GB)
    budget.add(4 * GB, os.getpid)
    assert budget.room() == 4 * GB


def test_needs_grow_with_the_weights(tmp_path: Path) -> None:
    gguf = tmp_path / "model.gguf"
    gguf.write_bytes(b"\0" * 4 * MB)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "openvino_model.bin").write_bytes(b"\0" * 4 * MB)
    (folder / "openvino_model.xml").write_text("""
        <data element_type="u4" shape="1024, 4096" offset="0" size="2097152" />
        <data element_type="f16" shape="1024, 64, 1" offset="0" size="131072" />
        <data element_type="f16" shape="1024, 1" offset="0" size="2048" />
        <data element_type="f16" shape="1, 1024" offset="0" size="2048" />""")
    quantized = needs(folder)
    assert quantized == needs(gguf, converted=True)
    assert quantized.weights == 4 * MB
    assert quantized.worker == quantized.undrafted == 6 * MB + 250 * MB
    assert needs(folder, gguf).worker > needs(folder, folder).worker == quantized.worker + 6 * MB
    assert needs(gguf).worker == int(3.2 * 4 * MB) + 250 * MB
    assert needs(folder, adapter=gguf).worker == quantized.worker + int(4 * MB * 4.4)
    assert needs(folder, adapter=gguf).weights == 8 * MB
    with (folder / "openvino_model.xml").open("a") as xml:
        xml.write('<data element_type="f16" shape="1024, 1024" offset="0" size="2097152" />')
    assert needs(folder).worker == int(2 * MB * 4.4 + 2 * MB * 1.5) + 250 * MB
