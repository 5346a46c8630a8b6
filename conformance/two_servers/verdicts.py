"""The verdicts of rules that differ between two servers."""

from collections import Counter
from collections.abc import Iterator, Sequence

from specvino.conformance.reports.diff import Change, by_fault, diff, new_faults
from specvino.conformance.reports.records import BAD, JUDGED, FindingRecord, Line, Report
from specvino.conformance.verdict import Verdict


def lines(a: Report, b: Report) -> Iterator[Line]:
    """Yields a line for each fault that only one server has, and one for each endpoint whose verdicts are the same."""
    changes = diff(a, b)
    differing = [*changes.worse, *changes.better]
    by_rule: dict[str, list[Change]] = {}
    for change in by_fault(differing):
        by_rule.setdefault(change.pairs[0][1].rule, []).append(change)
    for changes_of_rule in by_rule.values():
        yield _line(changes_of_rule)
    endpoints = {_endpoint(after) for _, after in differing}
    judged = {line.rule for line in a.lines if line.verdict in JUDGED}
    counts = Counter(_endpoint(line) for line in b.lines if line.verdict in JUDGED and line.rule in judged)
    for endpoint, number in sorted(counts.items()):
        if endpoint not in endpoints:
            says = "Rules have the same verdict at both servers."
            rule = f"{endpoint}/parity/verdict"
            yield Line(rule=rule, layer="parity", says=says, verdict=Verdict.PASS, judged=number)


def _line(changes: Sequence[Change]) -> Line:
    """Returns the line of faults that only one server has, or of a capability that only one has: a finding for each."""
    a, b = changes[0].pairs[0]
    broken = b if b.verdict in BAD or a.verdict not in BAD else a
    findings = new_faults(a, b) if a.verdict in BAD and b.verdict in BAD else [*broken.findings]
    exchanges = findings[0].exchanges if findings else ()
    others = sorted({after.rule for change in changes for _, after in change.pairs[1:]})
    return broken.model_copy(
        update={
            "layer": "parity",
            "verdict": Verdict.FAIL,
            "because": f"and {len(others)} more: {', '.join(others)}" if others else "",
            "findings": tuple(
                FindingRecord(message=f"{a.verdict} at A, {b.verdict} at B: {change.why}", exchanges=exchanges)
                for change in changes
            ),
            "follows": "",
        }
    )


def _endpoint(line: Line) -> str:
    return line.rule.partition("/")[0]
