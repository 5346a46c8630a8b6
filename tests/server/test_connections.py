"""How many connections there may be, and whose place a new one takes."""

import logging
import resource

import pytest

from specvino.server.connections import Connections, possible


class Wire:
    """A connection that notes what is done to it."""

    def __init__(self) -> None:
        self.ticks = 0
        self.aborted = False

    def tick(self) -> None:
        self.ticks += 1

    def abort(self) -> None:
        self.aborted = True


def test_a_new_one_takes_the_place_of_the_one_that_waits_longest() -> None:
    held = Connections(3)
    first, second, third, fourth, fifth = (Wire() for _ in range(5))
    assert held.add(first)
    assert held.add(second)
    assert held.add(third)
    held.asks(first)
    assert held.add(fourth)
    assert [connection.aborted for connection in (first, second, third, fourth)] == [False, True, False, False]
    held.waits(first)
    assert held.add(fifth)
    assert [connection.aborted for connection in (first, third, fourth)] == [False, True, False], (
        "the third waits for longer"
    )


def test_none_that_is_answered_loses_its_place() -> None:
    held = Connections(2)
    asking = [Wire(), Wire()]
    for connection in asking:
        assert held.add(connection)
        held.asks(connection)
    refused = [Wire() for _ in range(1000)]
    assert [held.add(connection) for connection in refused] == [False] * 1000
    assert not any(connection.aborted for connection in asking)
    assert [connection.aborted for connection in refused] == [True] * 999 + [False], (
        "those that are refused don't pile up"
    )
    held.discard(asking[0])
    assert held.add(Wire())


def test_the_log_says_once_a_second_what_was_too_much(caplog) -> None:
    held = Connections(1)
    with caplog.at_level(logging.WARNING):
        for _ in range(100):
            held.add(Wire())
        held.tick()
        held.tick()
    (line,) = caplog.messages
    assert line == "--max-connections (1) was reached: 99 idle connections were closed, 0 new ones refused"


def test_all_are_told_of_a_second() -> None:
    held = Connections(2)
    held.add(waiting := Wire())
    held.add(asking := Wire())
    held.add(closed := Wire())
    held.asks(asking)
    held.discard(closed)
    held.tick()
    assert (waiting.ticks, asking.ticks, closed.ticks) == (0, 1, 0), "the first made place for the third"


@pytest.mark.parametrize(
    ("soft", "hard", "limit", "most"),
    [
        (1024, 4096, 2304, 2048),
        (1024, resource.RLIM_INFINITY, 2304, 2048),
        (1024, 1024, 1024, 768),
        (4096, 4096, None, 2048),
        (resource.RLIM_INFINITY, resource.RLIM_INFINITY, None, 2048),
        (64, 64, 64, 1),
    ],
)
def test_files_are_allowed_for_them(monkeypatch, caplog, soft, hard, limit, most) -> None:
    changed: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: changed.append(both))
    with caplog.at_level(logging.WARNING):
        assert possible(2048) == most
    assert changed == ([] if limit is None else [(limit, hard)])
    assert bool(caplog.messages) is (most < 2048)
