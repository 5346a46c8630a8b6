"""What a run found, as tables and as JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from rich.console import Console
from rich.table import Table

from soak.census import leaks
from soak.journal import Who
from soak.latency import FACTOR, FIRST, by_kind, factors, measured, probe_factor
from soak.plan import Soak

PHASES = ("quiet", "hostile", "faults")

_MB = 2**20


def problems(run: Soak) -> Iterator[str]:
    """Yields all that doesn't hold, each a sentence; nothing of a run in which all is well."""
    journal = run.journal
    yield from journal.wrong
    if journal.wrongs > len(journal.wrong):
        yield f"{journal.wrongs - len(journal.wrong)} more like these"
    refused = Counter(entry.end.code for entry in journal.of("honest", "quiet") if entry.end.outcome != "answered")
    del refused[None]
    expected = {"response_not_found"}
    for code in refused.keys() - expected:
        yield f"in quiet phases {refused[code]} honest requests ended with {code}"
    yield from (f"leak: {sentence}" for sentence in leaks(run.watch))
    ratios = _slowest(factors(journal))
    if not ratios:
        yield "no kind of request was answered often enough in both phases to be compared: take more minutes"
    for kind, ratio in ratios:
        if ratio > FACTOR:
            yield f"beside hostile clients the p99 of {kind} is {ratio:.1f} times that of quiet phases"
    if (ratio := probe_factor(journal)) > FACTOR:
        yield f"beside hostile clients the p99 of /health/live is {ratio:.1f} times that of quiet phases"


def show(run: Soak, console: Console) -> None:
    """Prints the run as tables."""
    console.rule(f"{run.model}: {run.minutes:g} minutes, {run.attacks} attacks, seed {run.seed}")
    for who in ("honest", "hostile"):
        console.print(_ends(run, who))
    console.print(_latencies(run))
    console.print(_seconds(run))
    console.print(_censuses(run))
    console.print(_memory(run))
    if run.restored:
        console.print(_restored(run))
    console.print("A row of docs/robustness.md, and what its columns are:", markup=False)
    for line in (" | ".join(COLUMNS), row(run)):
        console.print(f"| {line} |", markup=False, highlight=False, soft_wrap=True)
    sentences = list(problems(run))
    for sentence in sentences:
        console.print(f"[red]x[/red] {sentence}", markup=True, highlight=False, soft_wrap=True)
    console.print("nothing is wrong" if not sentences else f"{len(sentences)} problems")


def record(run: Soak) -> dict[str, Any]:
    """Returns the run as JSON."""
    return {
        "model": run.model,
        "minutes": run.minutes,
        "seed": run.seed,
        "attacks": run.attacks,
        "ends": {who: {kind: dict(counts) for kind, counts in run.journal.counts(who).items()} for who in _WHO},
        "latency": {phase: _fields(run, phase) for phase in PHASES}
        | {"factors": factors(run.journal), "probe_factor": probe_factor(run.journal)},
        "seconds": {phase: by_kind(run.journal, phase) for phase in PHASES},
        "censuses": [{"seconds": c.seconds, "rss": c.rss, "tokens": c.tokens, **c.counts} for c in run.watch.censuses],
        "memory": [sample._asdict() for sample in run.watch.memory],
        "log": run.log,
        "restored": run.restored,
        "row": row(run),
        "problems": list(problems(run)),
    }


COLUMNS = (
    "run",
    "honest requests",
    "hostile requests",
    "p99 alone",
    "p99 under attack",
    "highest ratio of a kind",
    "highest ratio of a first text",
    "`/health/live` under attack, p99",
    "problems",
)
"""Of the table of runs in docs/robustness.md. The p99 are multiples of a kind's median without attacks."""


def row(run: Soak) -> str:
    """Returns the run as the cells of a row in Markdown."""
    journal = run.journal
    quiet, hostile = measured(journal, "quiet"), measured(journal, "hostile")
    ratios = _slowest(factors(journal))
    whole = [f"{ratio:.1f} ({kind})" for kind, ratio in ratios if not kind.endswith(FIRST)]
    first = [f"{ratio:.1f} ({kind.removesuffix(FIRST)})" for kind, ratio in ratios if kind.endswith(FIRST)]
    found = len(list(problems(run)))
    cells = (
        f"{run.model}, {run.minutes:g} minutes",
        *(f"{sum(1 for _ in journal.of(who)):,}" for who in _WHO),
        f"{quiet.p99:.1f}",
        f"{hostile.p99:.1f}",
        *(shown[0] if shown else "-" for shown in (whole, first)),
        f"{1000 * hostile.probe_p99:.0f} ms",
        str(found or "none"),
    )
    return " | ".join(cells)


def _slowest(ratios: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(ratios.items(), key=itemgetter(1), reverse=True)


_WHO: tuple[Who, ...] = ("honest", "hostile")


def _fields(run: Soak, phase: str) -> dict[str, float]:
    latency = measured(run.journal, phase)
    return {name: getattr(latency, name) for name in latency.__slots__}


def _ends(run: Soak, who: Who) -> Table:
    table = _table(f"How {who} requests ended", "request", "ends")
    for kind, counts in sorted(run.journal.counts(who).items()):
        table.add_row(kind, ", ".join(f"{count} {what}" for what, count in counts.most_common()))
    return table


def _latencies(run: Soak) -> Table:
    table = _table(
        "Honest requests, as multiples of their usual time, and /health/live",
        *("phase", "requests", "p50", "p99", "/health/live p50", "p99", "worst"),
    )
    for phase in PHASES:
        latency = measured(run.journal, phase)
        probes = run.journal.probes.get(phase) or [0.0]
        seconds = (latency.probe_p50, latency.probe_p99, max(probes))
        shown = [f"{1000 * second:.0f} ms" for second in seconds]
        table.add_row(phase, str(latency.requests), f"{latency.p50:.2f}", f"{latency.p99:.2f}", *shown)
    table.caption = f"/health/live, hostile / quiet: {probe_factor(run.journal):.1f}, at most {FACTOR:g}"
    return table


def _seconds(run: Soak) -> Table:
    """Tells p50 and p99 of each kind and of its first text, so that it is seen who waits."""
    phases = {phase: by_kind(run.journal, phase) for phase in PHASES}
    ratios = factors(run.journal)
    table = _table("Milliseconds of honest requests (p50, p99)", "request", *PHASES, "hostile / quiet")
    for kind in sorted(phases["quiet"]):
        by_phase = [phases[phase].get(kind) for phase in PHASES]
        table.add_row(
            kind,
            *(f"{1000 * figures[1]:.0f} {1000 * figures[2]:.0f}" if figures else "" for figures in by_phase),
            f"{ratios[kind]:.1f}" if kind in ratios else "too few",
        )
    table.caption = f"of the two p99, at most {FACTOR:g}"
    return table


def _censuses(run: Soak) -> Table:
    censuses = run.watch.censuses
    table = _table("Idle moments", "second", *(f"{census.seconds:.0f}" for census in censuses))
    for name in dict.fromkeys(name for census in censuses for name in census.counts):
        table.add_row(name, *(str(census.counts.get(name, "")) for census in censuses))
    table.add_row("MB in all", *(f"{census.rss / _MB:.0f}" for census in censuses))
    return table


def _memory(run: Soak) -> Table:
    table = _table("Memory (MB)", "process", "first", "most", "last")
    by_role: dict[str, list[int]] = {}
    for sample in run.watch.memory:
        by_role.setdefault(sample.role, []).append(sample.rss)
    for role, values in by_role.items():
        table.add_row(role, *(f"{value / _MB:.0f}" for value in (values[0], max(values), values[-1])))
    return table


def _restored(run: Soak) -> Table:
    table = _table("Faults", "what broke", "times", "ready again after")
    for name, seconds in run.restored.items():
        table.add_row(name, str(len(seconds)), f"{max(seconds):.1f} s")
    return table


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for name in others:
        table.add_column(name, justify="left" if len(others) == 1 else "right")
    return table
