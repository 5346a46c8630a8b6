"""Markdown summaries, for example for a CI job's page."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from specvino.conformance.clients.profile import all_clients
from specvino.conformance.reports.faults import Fault, faults
from specvino.conformance.reports.plain import cut
from specvino.conformance.reports.readiness import outcomes, readiness
from specvino.conformance.reports.records import Line, Report, count, summary
from specvino.conformance.verdict import Verdict

LONGEST = 300

# The largest number of listed faults: CI pages have size limits.
MAX_FAULTS = 50


def write(report: Report, path: Path) -> None:
    """Writes the summary of a report. Raises OSError."""
    path.write_text("\n".join(_lines(report)) + "\n", encoding="utf-8")


def _lines(report: Report) -> Iterator[str]:
    header = report.header
    yield f"## {escaped(header.title)}"
    yield ""
    if report.shortcoming:
        yield f"**{escaped(report.shortcoming)}**"
        yield ""
    yield f"{summary(report)}. Judged by {header.judged_by}, profile {header.profile}."
    yield ""
    yield from _readiness(report)
    yield f"| | endpoint | {' | '.join(Verdict)} |"
    yield f"|---|---|{'---:|' * len(Verdict)}"
    for severity, group in report.by_severity().items():
        for endpoint, lines in _by_endpoint(group).items():
            counts = count(lines)
            yield f"| {severity} | {endpoint} | {' | '.join(str(counts[verdict] or '') for verdict in Verdict)} |"
    all_faults = faults(report.lines)
    if not all_faults:
        return
    yield ""
    yield "| | fault | rule | finding |"
    yield "|---|---|---|---|"
    for fault in all_faults[:MAX_FAULTS]:
        line = fault.head
        title, why = escaped(cut(fault.title, LONGEST)), escaped(cut(line.why, LONGEST))
        yield f"| {line.severity} | {title} | {escaped(line.rule)}{_others(fault)} | {why} |"
    if len(all_faults) > MAX_FAULTS:
        yield ""
        yield f"{len(all_faults) - MAX_FAULTS} more faults are in the other reports."


def _others(fault: Fault) -> str:
    """Returns the other rules that report a fault, folded."""
    rules = escaped(", ".join(map(fault.name, fault.others)))
    return f"<details><summary>and {len(fault.others)} more</summary>{rules}</details>" if rules else ""


def _readiness(report: Report) -> Iterator[str]:
    """Yields the verdict for the client of the run, and what it lacks."""
    if (verdict := readiness(report)) is None:
        return
    client = all_clients()[report.header.client]
    yield f"**{escaped(client.title)} {escaped(client.version)}: {verdict}**"
    yield ""
    lacking = [outcome for outcome in outcomes(report) if outcome.reasons]
    for outcome in lacking:
        part, reasons = "needs" if outcome.needed else "uses", "; ".join(outcome.reasons)
        yield f"- {part}: {escaped(outcome.reliance.because)} {escaped(cut(reasons, LONGEST))}"
    if lacking:
        yield ""


def _by_endpoint(lines: Iterable[Line]) -> dict[str, list[Line]]:
    groups: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda item: item.rule):
        groups.setdefault(line.rule.split("/")[0], []).append(line)
    return groups


def escaped(text: str) -> str:
    """Escapes text: a server's message, or a field's name in a rule of `parity`, must not become a link, an image, an
    element or a table cell. Within elements of a cell, escapes are the same."""
    return "".join(
        f"\\{character}" if character in "\\`*_{}[]()#+-!|<>~@" else character for character in " ".join(text.split())
    )
