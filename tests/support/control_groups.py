"""A control group of Linux with a limit of memory, for processes that a test starts."""

import contextlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.serving import wait_until

_MOUNT = Path("/sys/fs/cgroup")


class Group:
    """The group in `folder`, with the limits and counts of version 1 or 2."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._folder = folder
        self._second = (folder / "memory.max").exists()
        (folder / ("memory.max" if self._second else "memory.limit_in_bytes")).write_text(str(limit))

    def within(self, command: Sequence[str]) -> list[str]:
        """Returns a command that runs this one in the group."""
        return ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(self._folder / "cgroup.procs"), *command]

    @property
    def killed(self) -> int:
        """Returns how many processes the kernel has killed there for want of memory."""
        counts = (self._folder / ("memory.events" if self._second else "memory.oom_control")).read_text().split()
        return int(counts[counts.index("oom_kill") + 1])

    @property
    def empty(self) -> bool:
        return not (self._folder / "cgroup.procs").read_text()


@contextlib.contextmanager
def limited(limit: int) -> Iterator[Group]:
    """A group with a limit in bytes. Skips the test where none can be made: that takes Linux and root, and a mounted
    file system that can be written.
    """
    if sys.platform != "linux":
        pytest.skip("control groups are Linux's")
    root = _MOUNT / "memory" if (_MOUNT / "memory").is_dir() else _MOUNT
    try:
        folder = Path(tempfile.mkdtemp(prefix="specvino-", dir=root))
        try:
            group = Group(folder, limit)
        except OSError:
            folder.rmdir()
            raise
    except OSError as error:
        pytest.skip(f"no control group with a limit of memory can be made: {error}")
    try:
        yield group
    finally:
        wait_until(lambda: group.empty)
        folder.rmdir()
