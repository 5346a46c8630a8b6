"""Inside a child process: its channel to the server, and a life that ends with the server's."""

import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from specvino.engine.processes.channel import BlockingChannel, Failed
from specvino.engine.processes.lifeline import die_with_parent


def run(incoming: Any, work: Callable[[BlockingChannel], None], describe: Callable[[Exception], str]) -> None:
    """Leads the whole life of a child: `work` with the channel that `spawn` made, until it returns or the server goes.

    `incoming` is the type of the messages that it receives. An exception of `work` goes to the server as Failed, in
    the words of `describe`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us by closing
    channel_fd, lifeline_fd = int(sys.argv[1]), int(sys.argv[2])
    # The end of the channel is seen only between two steps. Loading a model, or a template that never ends, holds the
    # interpreter for longer than that.
    die_with_parent(lifeline_fd)
    channel = BlockingChannel(socket.socket(fileno=channel_fd), msgspec.msgpack.Decoder(incoming))
    try:
        try:
            work(channel)
        except Exception as error:
            channel.send(Failed(describe(error)))
    except EOFError:
        pass  # the server has gone: there is nobody to tell
    # Native threads and half-built pipelines needn't be torn down, and have crashed when they were.
    os._exit(0)


def expendable() -> None:
    """Has the kernel end this process before the server and its other children where memory runs out (Linux)."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def limit_memory(more: int) -> None:
    """Lets this process take so many bytes more than it has now (Linux): beyond that an allocation fails."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return  # only Linux tells how much is used
    used = int(statm.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))


# Seconds between two looks.
_INTERVAL = 0.1


@contextmanager
def bounded(seconds: float, exceeded: Callable[[], None]) -> Iterator[None]:
    """Calls `exceeded` from another thread as soon as the work within has taken so many seconds of CPU time.

    Native code can't be interrupted: `exceeded` should end the process. When the work is done it isn't called any more.
    """
    done = threading.Event()
    begun = time.process_time()

    def watch() -> None:
        while not done.wait(_INTERVAL):
            if time.process_time() - begun > seconds:
                exceeded()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
