"""What became of processes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

PATIENCE = 300


def gone(*processes: psutil.Process) -> bool:
    """Waits for their ends. One that nobody waits for stays a zombie where process 1 doesn't reap."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not any(_alive(process) for process in processes):
            return True
        time.sleep(0.02)
    return False


@contextmanager
def leaving_no_process() -> Iterator[None]:
    """Sees that no child is left of those that begin within. There may be older ones: multiprocessing's tracker of
    resources, once it is needed, stays as long as the test run."""
    before = psutil.Process().children()
    yield
    left = [child for child in psutil.Process().children() if child not in before]
    assert not left, left


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
