"""How long honest clients wait is compared by kinds of requests."""

import pytest

from soak.ends import End
from soak.journal import Journal
from soak.latency import by_kind, factors, measured, percentile, usual


def journal(**phases: dict[str, list[float]]) -> Journal:
    recorded = Journal()
    for phase, kinds in phases.items():
        recorded.phase = phase
        for kind, seconds in kinds.items():
            for second in seconds:
                recorded.add("honest", kind, End("answered"), second)
    return recorded


def test_each_kind_has_its_own_measure() -> None:
    both = journal(quiet={"long": [10.0] * 9, "short": [0.1] * 9}, hostile={"long": [20.0], "short": [0.3]})
    assert usual(both.of("honest", "quiet")) == {"long": 10.0, "short": 0.1}
    measurement = measured(both, "hostile")
    assert measurement.requests == 2
    assert (measurement.p50, measurement.p99) == pytest.approx((3, 3))
    assert factors(both) == {}
    assert by_kind(both, "hostile") == {"long": (1, 20.0, 20.0), "short": (1, 0.3, 0.3)}


def test_what_was_refused_or_is_rare_has_no_time() -> None:
    both = journal(quiet={"rare": [1.0]}, hostile={"rare": [9.0]})
    both.add("honest", "rare", End("refused", "engine_restarted"), 50.0)
    both.add("hostile", "rare", End("answered"), 50.0)
    assert measured(both, "hostile").requests == 0
    assert factors(both) == {}


def test_a_slow_kind_is_not_hidden_by_fast_ones() -> None:
    both = journal(
        quiet={"short": [0.1] * 900, "long": [1.0] * 9}, hostile={"short": [0.1] * 900, "long": [1.0] * 8 + [60.0]}
    )
    assert factors(both) == pytest.approx({"short": 1, "long": 60})


def test_the_first_text_has_a_time_of_its_own() -> None:
    both = Journal()
    for phase, first in (("quiet", 0.1), ("hostile", 3.0)):
        both.phase = phase
        for outcome in ("answered", "left") * 3:
            both.add("honest", "chat", End(outcome), 5.0, first)
    assert factors(both) == pytest.approx({"chat: first text": 30})
    assert "chat" not in factors(both)


def test_percentiles() -> None:
    assert percentile([], 0.99) == 0
    assert percentile([1.0], 0.99) == 1
    assert percentile([float(number) for number in range(1000)], 0.99) == 990
