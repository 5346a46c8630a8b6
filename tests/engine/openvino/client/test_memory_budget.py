"""The room for processes on demand."""

import os

import pytest

from specvino.engine.errors import EngineUnavailable, InsufficientMemory
from specvino.engine.openvino.client.memory_budget import MemoryBudget
from specvino.engine.openvino.client.memory_needs import GB
from specvino.engine.processes.memory import Memory

MB = 2**20


def machine(total: float, free: float | None = None) -> Memory:
    return Memory(int(total * GB), int((total if free is None else free) * GB))


# What the server may still take of its 500 MB.
SERVER = 300 * MB


def of_machine() -> MemoryBudget:
    """Returns a budget in which every process has 200 MB."""
    return MemoryBudget(lambda: machine(8, 6), resident=lambda pid: 200 * MB)


def test_what_may_still_grow_is_counted() -> None:
    budget = of_machine()
    budget.add(lambda: 4 * GB, lambda: None)  # being restarted
    assert budget.room() == 2 * GB - SERVER
    assert budget.require(GB, "It") == 2 * GB - SERVER
    with pytest.raises(EngineUnavailable, match=r"^It requires 2\.0 GB of memory .* 1\.7 GB are free now"):
        budget.require(2 * GB, "It")
    with pytest.raises(InsufficientMemory, match=r"but the server leaves 3\.5 GB of the 8\.0 GB of this machine"):
        budget.require(4 * GB, "It")


def test_a_process_on_demand_counts_while_it_is_wanted() -> None:
    budget = of_machine()
    wanted = True
    budget.add(lambda: 4 * GB, os.getpid, lambda: wanted)
    assert budget.room() == 2 * GB - SERVER + 200 * MB  # which the process has already
    assert budget.most() == 8 * GB - 500 * MB
    wanted = False
    assert budget.room() == 6 * GB - SERVER


def test_the_memory_of_a_device_is_not_what_the_machine_counts() -> None:
    """A process has the weights on the device, whatever it has of the machine's memory."""
    budget = MemoryBudget.of_device(8 * GB)
    budget.add(lambda: 4 * GB, os.getpid)
    assert budget.room() == 4 * GB
