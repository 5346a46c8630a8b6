"""The memory of a server's processes, and whether there is room for one that is started on demand."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from specvino.engine.errors import EngineUnavailable, InsufficientMemory
from specvino.engine.openvino.client.memory_needs import GB
from specvino.engine.processes.memory import Memory, memory, resident

# The server, the preprocess and the grammar process together, with a vocabulary of 150,000 tokens: 200, 140 and 20 MB,
# and what they need for requests.
SERVER = 500 * 2**20

_RETRY_AFTER = 30  # seconds


@dataclass(slots=True)
class _Process:
    """A process; `size` returns the bytes that it may grow to. `pid` returns None while it is restarted; `wanted`
    returns whether it is kept running, None for one that always is.
    """

    size: Callable[[], int]
    pid: Callable[[], int | None]
    wanted: Callable[[], bool] | None

    def outstanding(self, resident: Callable[[int], int]) -> int:
        """Returns how many more bytes it may allocate."""
        pid = self.pid()
        return max(0, self.size() - resident(pid)) if pid else self.size()


class MemoryBudget:
    """The memory of a server's processes, of all its models.

    A process is counted with the size that it may grow to, so that none that is started later takes what is promised to
    another. `read` returns the memory of the machine, and `resident` how much of what is taken is that of a process.
    `server` is what the server and its small processes take, which have none of a device's (then `of_machine` is
    false).
    """

    def __init__(
        self,
        read: Callable[[], Memory] = memory,
        resident: Callable[[int], int] = resident,
        server: int = SERVER,
    ) -> None:
        self.read = read
        self._resident = resident
        self.of_machine = bool(server)
        self._processes: list[_Process] = []
        if server:
            self.add(lambda: server, os.getpid)  # what its other processes have is a reserve

    @classmethod
    def of_device(cls, size: int) -> Self:
        """Returns that of a device with memory of its own, in bytes. What is free there isn't known, so that all of a
        process's memory is outstanding.
        """
        return cls(lambda: Memory(size, size, owner="the device"), resident=lambda pid: 0, server=0)

    def add(
        self, size: Callable[[], int], pid: Callable[[], int | None], wanted: Callable[[], bool] | None = None
    ) -> None:
        """Counts a process that may grow to `size` bytes, as long as it is `wanted`."""
        self._processes.append(_Process(size, pid, wanted))

    def room(self) -> int:
        """Returns how many bytes a further process can have now."""
        self._processes = [process for process in self._processes if process.wanted is None or process.wanted()]
        return self.read().available - sum(process.outstanding(self._resident) for process in self._processes)

    def most(self) -> int:
        """Returns how many bytes a further process could have if only this server ran, without processes on demand."""
        return self.read().total - sum(process.size() for process in self._processes if not process.wanted)

    def require(self, size: int, purpose: str) -> int:
        """Returns the room for a process of at least this size. Raises InsufficientMemory if the machine is too small,
        and EngineUnavailable if there is no room now.
        """
        if size > self.most():
            raise InsufficientMemory(self.lack(size, purpose))
        room = self.room()
        if size > room:
            raise EngineUnavailable(
                f"{purpose} requires {in_gb(size)} of memory for a process, and {in_gb(max(0, room))} are free now.",
                retry_after=_RETRY_AFTER,
            )
        return room

    def lack(self, size: int, purpose: str) -> str:
        """Returns why a process of this size never has room."""
        memory = self.read()
        return (
            f"{purpose} requires {in_gb(size)} of memory for a second copy of the model, but the server leaves "
            f"{in_gb(max(0, self.most()))} of the {in_gb(memory.total)} of {memory.owner}."
        )


def in_gb(size: int) -> str:
    """Returns a size in bytes for people."""
    return f"{size / GB:.1f} GB"
