"""The verdicts of rules that differ between two servers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from specvino.conformance.reports.diff import new_faults
from specvino.conformance.reports.faults import Fault, faults
from specvino.conformance.reports.records import BAD, JUDGED, FindingRecord, Line, Report
from specvino.conformance.verdict import Verdict


class Pair(NamedTuple):
    """The lines of a rule, which both servers have a verdict by."""

    a: Line
    b: Line


def lines(a: Report, b: Report) -> Iterator[Line]:
    """Yields a line for each rule that reports a fault of one server only, or a capability of one, and one for each
    endpoint whose verdicts are the same. With the servers exchanged, the rules are the same."""
    judged = [{line.rule: line for line in report.lines if line.verdict in JUDGED} for report in (a, b)]
    pairs = {rule: Pair(judged[0][rule], judged[1][rule]) for rule in sorted(judged[0].keys() & judged[1].keys())}
    by_rule: dict[str, list[tuple[str, Fault]]] = {}
    differing: set[str] = set()
    for name, is_other in (("A", False), ("B", True)):
        own = [line for one, other in pairs.values() if (line := _only(*((other, one) if is_other else (one, other))))]
        differing |= {line.rule for line in own}
        broken = [line for line in own if line.verdict in BAD]
        for fault in (*faults(broken), *(Fault(line.why, (line,)) for line in own if line.verdict not in BAD)):
            by_rule.setdefault(fault.head.rule, []).append((name, fault))
    for rule in sorted(by_rule):
        yield _line(pairs[rule], by_rule[rule])
    endpoints = {_endpoint(rule) for rule in differing}
    for endpoint, number in sorted(Counter(map(_endpoint, pairs)).items()):
        if endpoint not in endpoints:
            says = "Rules have the same verdict at both servers."
            rule = f"{endpoint}/parity/verdict"
            yield Line(rule=rule, layer="parity", says=says, verdict=Verdict.PASS, judged=number)


def _only(own: Line, other: Line) -> Line | None:
    """Returns a server's line with what only this server has: faults, or no support. None if it has nothing such."""
    if own.verdict in BAD and other.verdict in BAD:
        findings = tuple(new_faults(other, own))
        return own.model_copy(update={"findings": findings}) if findings else None
    is_unsupported = own.verdict is Verdict.UNSUPPORTED and other.verdict is Verdict.PASS
    return own if own.verdict in BAD or is_unsupported else None


def _line(pair: Pair, faults: Sequence[tuple[str, Fault]]) -> Line:
    """Returns the line of a rule, with a finding for each fault that only one server has."""
    others = sorted({line.rule for _, fault in faults for line in fault.others})
    how = f"{pair.a.verdict} at A, {pair.b.verdict} at B"
    both = pair.a.verdict in BAD and pair.b.verdict in BAD
    return faults[0][1].head.model_copy(
        update={
            "layer": "parity",
            "verdict": Verdict.FAIL,
            "because": f"and {len(others)} more: {', '.join(others)}" if others else "",
            "findings": tuple(
                FindingRecord(
                    message=f"{how}, only at {name}: {fault.head.why}" if both else f"{how}: {fault.head.why}",
                    exchanges=fault.head.findings[0].exchanges if fault.head.findings else (),
                )
                for name, fault in faults
            ),
            "follows": "",
        }
    )


def _endpoint(rule: str) -> str:
    return rule.partition("/")[0]
