"""Code for child processes: the main function, and limits of memory and CPU time."""

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
    """The main function of a child: calls `work` with the channel from `spawn`. The child ends when `work` returns or
    the server ends.

    `incoming` is the type of the messages that it receives. An exception of `work` is sent to the server as Failed,
    with the text that `describe` returns.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it, and closes the channel
    channel_fd, lifeline_fd = int(sys.argv[1]), int(sys.argv[2])
    # The end of the channel is detected only between two steps. Loading a model, or an endless template, blocks the
    # interpreter for longer.
    die_with_parent(lifeline_fd)
    channel = BlockingChannel(socket.socket(fileno=channel_fd), msgspec.msgpack.Decoder(incoming))
    try:
        try:
            work(channel)
        except Exception as error:
            channel.send(Failed(describe(error)))
            # Here, since the error's traceback holds what its functions had: a pipeline reports, when it is freed, that
            # its work isn't done.
            os._exit(0)
    except EOFError:
        pass  # the server has ended
    # Skips the teardown of native threads and incomplete pipelines, which isn't needed and has crashed.
    os._exit(0)


def expendable() -> None:
    """Makes the kernel kill this process before the server and its other children if memory runs out (Linux)."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def limit_memory(more: int) -> None:
    """Limits this process to `more` bytes beyond its current size (Linux): larger allocations fail."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return  # not Linux
    used = int(statm.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))


# Seconds between two checks of the CPU time.
_INTERVAL = 0.1


@contextmanager
def bounded(seconds: float, exceeded: Callable[[], None]) -> Iterator[None]:
    """Calls `exceeded` from another thread as soon as the work within the context has taken `seconds` of CPU time of
    this process, regardless of the load on the machine. Native code can't be interrupted, so `exceeded` should end the
    process. It isn't called after the work is done.
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
