"""Who hangs and who computes, on a clock of the test's own."""

import os

import pytest

from specvino.engine.processes.stall_watch import StallWatch, cpu_seconds


class Machine:
    """A child's times."""

    def __init__(self) -> None:
        self.now = self.taken = 0.0

    def watch(self, work: float) -> StallWatch:
        return StallWatch(60, work, clock=lambda: self.now, cpu=lambda _: self.taken)

    def go_on(self, watch: StallWatch, seconds: float, rate: float) -> bool:
        """Asks every six seconds, as the supervisor does; a child that computes takes `rate` seconds a second."""
        end = self.now + seconds
        while self.now < end:
            self.now += 6
            self.taken += 6 * rate
            if watch.stalled(1):
                return True
        return False


@pytest.mark.parametrize("work", [0, 600])
def test_who_does_nothing_hangs(work: float) -> None:
    machine = Machine()
    watch = machine.watch(work)
    watch.heard()
    assert not machine.go_on(watch, 60, rate=0)
    assert machine.go_on(watch, 12, rate=0)


@pytest.mark.parametrize("rate", [0.01, 1])
def test_a_long_step_is_no_stall_however_busy_the_machine(rate: float) -> None:
    machine = Machine()
    watch = machine.watch(600)
    watch.heard()
    assert not machine.go_on(watch, 500, rate)
    watch.heard()
    assert not machine.go_on(watch, 500, rate)


def test_what_never_ends_hangs() -> None:
    machine = Machine()
    watch = machine.watch(600)
    watch.heard()
    assert machine.go_on(watch, 700, rate=1)


def test_who_stops_computing_hangs() -> None:
    machine = Machine()
    watch = machine.watch(600)
    watch.heard()
    assert not machine.go_on(watch, 120, rate=1)
    assert not machine.go_on(watch, 60, rate=0)
    assert machine.go_on(watch, 12, rate=0)


def test_without_a_limit_of_work_computing_is_no_excuse() -> None:
    machine = Machine()
    watch = machine.watch(0)
    watch.heard()
    assert machine.go_on(watch, 72, rate=1)


def test_the_time_of_a_process() -> None:
    assert cpu_seconds(os.getpid()) > 0
    assert cpu_seconds(2**30) == 0
