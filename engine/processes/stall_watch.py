"""Distinguishes a child that hangs from one that computes without sending anything."""

import time
from collections.abc import Callable

import psutil


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time of a process so far, in seconds; 0 if it has ended."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


class StallWatch:
    """Decides whether a child with pending work hangs. A child that is silent for `timeout` seconds hangs, unless it
    computes: then it may be silent for up to `work` seconds of CPU time, and hangs if it uses none for `timeout`
    seconds. `clock` and `cpu` are for tests.
    """

    def __init__(
        self,
        timeout: float,
        work: float = 0.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[int], float] = cpu_seconds,
    ) -> None:
        self._timeout = timeout
        self._work = work
        self._clock = clock
        self._cpu = cpu
        self._heard_at = 0.0
        self._checked = False  # since the last sign of life
        self._taken = self._taken_at_first = 0.0  # CPU time
        self._took_at = 0.0

    def heard(self) -> None:
        """Records a sign of life."""
        self._heard_at = self._clock()
        self._checked = False

    def stalled(self, pid: int) -> bool:
        """Returns whether the child hangs."""
        now = self._clock()
        if not self._work:
            return now - self._heard_at > self._timeout
        taken = self._cpu(pid)
        if not self._checked:
            self._checked, self._taken, self._taken_at_first, self._took_at = True, taken, taken, now
        elif taken > self._taken:
            self._taken, self._took_at = taken, now
        if now - self._heard_at <= self._timeout:
            return False
        return now - self._took_at > self._timeout or taken - self._taken_at_first > self._work
