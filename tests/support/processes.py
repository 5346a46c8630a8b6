"""What became of processes."""

import time

import psutil

PATIENCE = 60


def gone(*processes: psutil.Process) -> bool:
    """Waits for their ends. One that nobody waits for stays a zombie where process 1 doesn't reap."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not any(_alive(process) for process in processes):
            return True
        time.sleep(0.02)
    return False


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
