"""How much longer honest clients wait beside hostile ones than without them."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from soak.journal import Entry, Journal

# How many times longer than in the quiet phases of the same run the slowest hundredth of honest requests may take, and
# of probes that wait for the event loop alone.
FACTOR = 10.0

# Follows the kind of a request whose first text is meant.
FIRST = ": first text"

# A kind has a usual time where it was seen so often.
_LEAST = 5


@dataclass(frozen=True, slots=True)
class Latency:
    """Times of honest requests as multiples of what their kind takes in a quiet phase, and seconds of probes."""

    requests: int
    p50: float
    p99: float
    probe_p50: float
    probe_p99: float


def usual(quiet: Iterable[Entry]) -> dict[str, float]:
    """Returns what each kind of request takes as a rule, in seconds."""
    times = defaultdict(list)
    for entry in quiet:
        if entry.end.outcome == "answered":
            times[entry.kind].append(entry.seconds)
    return {kind: statistics.median(seconds) for kind, seconds in times.items() if len(seconds) >= _LEAST}


def multiples(entries: Iterable[Entry], typical: dict[str, float]) -> list[float]:
    """Returns how many times longer than usual each answer took, in ascending order."""
    return sorted(
        entry.seconds / typical[entry.kind]
        for entry in entries
        if entry.end.outcome == "answered" and entry.kind in typical
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the value that so large a share of the sorted values doesn't exceed; 0 of none."""
    return values[min(int(len(values) * share), len(values) - 1)] if values else 0.0


def measured(journal: Journal, phase: str) -> Latency:
    ratios = multiples(journal.of("honest", phase), usual(journal.of("honest", "quiet")))
    probes = sorted(journal.probes.get(phase, ()))
    return Latency(
        len(ratios),
        percentile(ratios, 0.5),
        percentile(ratios, 0.99),
        percentile(probes, 0.5),
        percentile(probes, 0.99),
    )


def by_kind(journal: Journal, phase: str) -> dict[str, tuple[int, float, float]]:
    """Returns how many answers of each kind there were, and their p50 and p99 in seconds; and of the first texts of
    streams, also of those that their clients left."""
    times = defaultdict(list)
    for entry in journal.of("honest", phase):
        if entry.end.outcome == "answered":
            times[entry.kind].append(entry.seconds)
        if entry.first is not None and entry.end.outcome in ("answered", "left"):
            times[f"{entry.kind}{FIRST}"].append(entry.first)
    return {
        kind: (len(seconds), percentile(sorted(seconds), 0.5), percentile(sorted(seconds), 0.99))
        for kind, seconds in times.items()
    }


def factors(journal: Journal) -> dict[str, float]:
    """Returns the ratio of the two p99 of each kind, and of the first texts of kinds that stream: a slow one isn't
    hidden by many fast ones. Without a kind of which a phase has too few answers."""
    quiet, hostile = by_kind(journal, "quiet"), by_kind(journal, "hostile")
    return {
        kind: hostile[kind][2] / quiet[kind][2]
        for kind in quiet.keys() & hostile.keys()
        if min(quiet[kind][0], hostile[kind][0]) >= _LEAST
    }


def probe_factor(journal: Journal) -> float:
    """Returns the ratio of the two p99 of probes."""
    quiet, hostile = measured(journal, "quiet"), measured(journal, "hostile")
    return hostile.probe_p99 / quiet.probe_p99 if quiet.probe_p99 else 0.0
