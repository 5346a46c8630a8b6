"""Starts a child process.

It is a new interpreter (`python -m`), never a fork: in a forked process OpenVINO 2026.4.1 uses only one core
(decision 003). The parent's `__main__` isn't imported again, and stdin isn't used.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from typing import NamedTuple

from specvino.engine.processes.channel import Channel

# Signals of a process that ended through its own fault. SIGPROF: it exceeded its own CPU time limit.
_CRASHES = frozenset({signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGPROF})


class End(NamedTuple):
    """The end of a child, as in "was killed by SIGSEGV", and whether it crashed."""

    text: str
    crashed: bool


class Child:
    """A running child, and the server's side of its channel."""

    def __init__(self, process: subprocess.Popen[bytes], channel: Channel, lifeline: int) -> None:
        self.channel = channel
        self._process = process
        self._lifeline = lifeline

    @property
    def pid(self) -> int:
        return self._process.pid

    async def end(self) -> End:
        """Kills the child, even if it is stopped or hangs, and returns how it ended."""
        self._process.kill()
        self.channel.close()
        os.close(self._lifeline)
        # Freeing a large model's memory takes time, and the event loop mustn't wait for it.
        code = await asyncio.to_thread(self._process.wait)
        if code == -signal.SIGKILL:
            return End("was killed by SIGKILL, as the system does if memory runs out", crashed=False)
        if code < 0:
            return End(f"was killed by {signal.Signals(-code).name}", -code in _CRASHES)
        return End(f"ended with exit code {code}", crashed=False)


async def spawn(name: str, module: str, channel: Channel, quiet: bool) -> Child:
    """Starts `python -m module` (a module that calls `child.run`) and connects `channel` to it.

    `name` is its last argument, to distinguish processes of the same module in a process list. `quiet` drops its
    stderr; its stdout is always dropped.
    """
    ours, theirs = socket.socketpair()
    lifeline_read, lifeline_write = os.pipe()
    try:
        await asyncio.get_running_loop().create_unix_connection(lambda: channel, sock=ours)
        process = subprocess.Popen(  # noqa: ASYNC220 - returns at once, and needs no child watcher
            # -P: a folder named like one of our imports in the working directory mustn't shadow it.
            [sys.executable, "-P", "-m", module, str(theirs.fileno()), str(lifeline_read), name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if quiet else None,
            pass_fds=(theirs.fileno(), lifeline_read),
            # A separate process group: Ctrl-C in a terminal is sent to a group, and would end the child before it
            # ignores the signal.
            process_group=0,
        )
    except BaseException:
        os.close(lifeline_write)
        raise
    finally:
        # Our copies would keep the channel open after the child's death, and keep the child alive after ours.
        theirs.close()
        os.close(lifeline_read)
    return Child(process, channel, lifeline_write)
