"""The memory of the machine, of the control group that the server runs in (such as a container), and of a process."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_GROUPS = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in bytes: the size of the machine's or, if that is smaller, the limit of the control group; how much of it
    processes can still allocate, and how much more the system can swap out. `owner` is whose memory it is, for people.
    """

    total: int
    available: int
    swap: int = 0
    owner: str = "this machine"


def memory(groups: Path = _GROUPS, mount: Path = _MOUNT) -> Memory:
    """Returns the memory for this process. `groups` names its control groups, as /proc/PID/cgroup does, and `mount` is
    where their files are.
    """
    machine = psutil.virtual_memory()
    total, available = machine.total, machine.available
    for limit, used in _limits(groups, mount):
        total, available = min(total, limit), min(available, max(0, limit - used))
    owner = "its container" if total < machine.total else "this machine"
    return Memory(total, available, psutil.swap_memory().free, owner)


def _limits(groups: Path, mount: Path) -> Iterator[tuple[int, int]]:
    """Yields the limit and the used bytes of each control group with a limit, from the process's own to the outermost
    one: all of them apply. The kernel's page cache counts as used there, but can be reclaimed.
    """
    try:
        lines = groups.read_text("utf-8").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            root, limit, used, cached = mount, "memory.max", "memory.current", ("active_file", "inactive_file")
        elif "memory" in controllers.split(","):
            root, limit, used = mount / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
            cached = ("total_active_file", "total_inactive_file")
        else:
            continue
        own = root / path.lstrip("/")
        # In a container the path may be the host's, which doesn't exist there; the container's own group is the root.
        for folder in (own, *own.parents):
            if not folder.is_relative_to(root):
                break
            with suppress(OSError, ValueError):  # no such file, or no limit: "max"
                yield int((folder / limit).read_text()), int((folder / used).read_text()) - _sum(folder, cached)


def _sum(folder: Path, names: tuple[str, ...]) -> int:
    lines = (folder / "memory.stat").read_text("ascii").splitlines()
    return sum(int(amount) for name, amount in map(str.split, lines) if name in names)


def resident(pid: int) -> int:
    """Returns the bytes of a process that the kernel can't reclaim; 0 if the process has ended."""
    try:
        of_process = psutil.Process(pid).memory_info()
    except psutil.Error:
        return 0
    # Pages of files, which only Linux counts apart.
    return max(0, of_process.rss - getattr(of_process, "shared", 0))
