"""Bounds work by what it computes: CPU time of this process, which doesn't depend on how busy the machine is."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
