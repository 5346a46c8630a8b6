"""The quick histogram says what the library's own would say."""

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from specvino.server.telemetry.generation_metrics import QuickHistogram

BOUNDS = (0.01, 0.5, 1, 20)


@given(st.lists(st.sampled_from([*BOUNDS, 0.0, 0.011, 0.75, 21.0]), max_size=20))
def test_it_is_the_library_s(amounts: list[float]) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    quick = QuickHistogram("gap_seconds", "Gaps.", ("model",), BOUNDS)
    series = quick.labels("m")
    ours.register(quick)
    slow = Histogram("gap_seconds", "Gaps.", ("model",), buckets=BOUNDS, registry=theirs).labels("m")
    for amount in amounts:
        series.observe(amount)
        slow.observe(amount)
    assert shown(ours) == shown(theirs)


def shown(registry: CollectorRegistry) -> list[str]:
    """All lines but the time at which a series began, which the quick one doesn't tell."""
    return [line for line in generate_latest(registry).decode().splitlines() if "_created" not in line]
