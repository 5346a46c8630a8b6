"""The memory of the machine, of control groups and of processes."""

import mmap
import os
from pathlib import Path

import psutil
import pytest

from specvino.engine.processes.memory import memory, resident

MB = 2**20
GROUP = "12:memory:/service/server\n3:cpu,cpuacct:/\n"


def written(folder: Path, **files: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(f"{content}\n")


def of_group(groups: Path, mount: Path) -> tuple[int, int]:
    """Returns size and free memory of a control group."""
    limited = memory(groups, mount)
    assert limited.owner == "its container"
    return limited.total, limited.available


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    return tmp_path / "cgroup"


def test_without_control_groups_it_is_the_machine_s(tmp_path: Path, groups: Path) -> None:
    machine = memory(groups, tmp_path)
    assert machine.total == psutil.virtual_memory().total
    assert 0 < machine.available < machine.total
    assert machine.owner == "this machine"


@pytest.mark.parametrize("folder", ["", "service", "service/server"])
def test_every_group_above_the_process_limits_it(tmp_path: Path, groups: Path, folder: str) -> None:
    groups.write_text("0::/service/server\n")
    (tmp_path / "service/server").mkdir(parents=True)
    stat = f"anon {5 * MB}\ninactive_file {MB}\nactive_file {MB}"
    written(tmp_path / folder, memory__max=10 * MB, memory__current=8 * MB, memory__stat=stat)
    assert of_group(groups, tmp_path) == (10 * MB, 4 * MB)


def test_version_1(tmp_path: Path, groups: Path) -> None:
    groups.write_text(GROUP)
    stat = f"total_inactive_file {MB}\ntotal_active_file {MB}\ninactive_file 0"
    files = {"memory__limit_in_bytes": 10 * MB, "memory__usage_in_bytes": 11 * MB, "memory__stat": stat}
    written(tmp_path / "memory/service", **files)
    assert of_group(groups, tmp_path) == (10 * MB, MB)


def test_in_a_container_the_group_is_the_root(tmp_path: Path, groups: Path) -> None:
    groups.write_text("0::/../../docker/3f2a\n")
    written(tmp_path, memory__max=10 * MB, memory__current=12 * MB, memory__stat="anon 1")
    assert of_group(groups, tmp_path) == (10 * MB, 0)


def test_no_limit(tmp_path: Path, groups: Path) -> None:
    groups.write_text("0::/\n" + GROUP)
    written(tmp_path, memory__max="max", memory__current=MB, memory__stat="anon 1")
    unlimited = {"memory__limit_in_bytes": 2**63 - 4096, "memory__usage_in_bytes": MB, "memory__stat": "rss 1"}
    written(tmp_path / "memory", **unlimited)
    assert memory(groups, tmp_path).total == psutil.virtual_memory().total


def test_a_process_has_what_it_wrote() -> None:
    before = resident(os.getpid())
    with mmap.mmap(-1, 64 * MB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as block:
        for page in range(0, len(block), mmap.PAGESIZE):
            block[page] = 1
        assert resident(os.getpid()) - before > 50 * MB
    assert resident(2**22 + 1) == 0
