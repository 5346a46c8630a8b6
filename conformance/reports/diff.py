"""The differences between two runs: regressions and improvements. A rule with a new fault is a regression."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from specvino.conformance.reports.faults import faults
from specvino.conformance.reports.records import BAD, JUDGED, FindingRecord, Line, Report
from specvino.conformance.verdict import Severity, Verdict


@dataclass(slots=True)
class Diff:
    """(before, after) pairs of lines by kind of change. `other` are changes from or to a verdict that doesn't depend on
    the server."""

    fail_on: Severity
    worse: list[tuple[Line, Line]] = field(default_factory=list)
    better: list[tuple[Line, Line]] = field(default_factory=list)
    other: list[tuple[Line, Line]] = field(default_factory=list)
    same: int = 0
    gone: list[Line] = field(default_factory=list)
    """Lines of rules that only the first run has."""
    new: list[Line] = field(default_factory=list)

    @property
    def newly_bad(self) -> list[Line]:
        """Returns the broken rules that only the second run has."""
        return [line for line in self.new if line.verdict in BAD]

    @property
    def is_worse(self) -> bool:
        """Returns whether the second run has regressions that count by its `--fail-on`."""
        binding = (*(after for _, after in self.worse), *self.newly_bad)
        return any(line.severity is Severity.MUST or self.fail_on is Severity.SHOULD for line in binding)


RANK = {
    Verdict.PASS: 2,
    Verdict.UNSUPPORTED: 1,
    Verdict.NOT_EXERCISED: 0,
    Verdict.SKIP: 0,
    Verdict.FAIL: -1,
    Verdict.ERROR: -1,
}


def diff(before: Report, after: Report) -> Diff:
    old = {line.rule: line for line in before.lines}
    new = {line.rule: line for line in after.lines}
    diff = Diff(after.header.fail_on)
    for rule in sorted(old.keys() & new.keys()):
        _classify((old[rule], new[rule]), diff)
    diff.gone = [old[rule] for rule in sorted(old.keys() - new.keys())]
    diff.new = [new[rule] for rule in sorted(new.keys() - old.keys())]
    return diff


def _classify(pair: tuple[Line, Line], diff: Diff) -> None:
    old, new = pair[0].verdict, pair[1].verdict
    if old == new and new_faults(*pair):
        diff.worse.append(pair)
    elif old == new:
        diff.same += 1
    elif new in BAD and old not in BAD:
        diff.worse.append(pair)
    elif old not in JUDGED or new not in JUDGED or RANK[old] == RANK[new]:
        diff.other.append(pair)
    elif RANK[new] > RANK[old]:
        diff.better.append(pair)
    else:
        diff.worse.append(pair)


def new_faults(before: Line, after: Line) -> list[FindingRecord]:
    """Returns the findings of faults that only the second line has."""
    old = {finding.fault for finding in before.findings}
    return [finding for finding in after.findings if finding.fault not in old]


@dataclass(frozen=True, slots=True)
class Change:
    """Pairs of lines with the same change. The first one is its cause, or an example. `title` is that of the fault that
    is new in the second lines, or was in the first ones; empty if there is none. `why` is its first message."""

    title: str
    why: str
    pairs: tuple[tuple[Line, Line], ...]


def by_fault(pairs: Iterable[tuple[Line, Line]]) -> list[Change]:
    """Groups pairs by fault; a pair with several faults is in several changes."""
    by_rule, broken, changes = {}, [], []
    for before, after in pairs:
        by_rule[after.rule] = before, after
        if after.verdict in BAD:
            findings = tuple(new_faults(before, after)) or after.findings
            broken.append(after.model_copy(update={"findings": findings}))
        elif before.verdict in BAD:
            broken.append(before)
        else:
            changes.append(Change("", after.why, ((before, after),)))
    for accepted in (False, True):
        for fault in faults(broken, accepted=accepted):
            changes.append(Change(fault.title, fault.head.why, tuple(by_rule[line.rule] for line in fault.lines)))
    return sorted(changes, key=lambda change: change.pairs[0][1].rule)


# Header fields that may differ between comparable runs. `left_out` follows from the other fields.
IGNORED = ("kind", "format", "tool", "rules", "url", "model", "started", "fail_on", "left_out", "replaced")


def differences(before: Report, after: Report) -> list[str]:
    """Returns the settings in which two runs differ, so that they can't be compared."""
    names = (name for name in type(after.header).model_fields if name not in IGNORED)
    pairs = ((name, getattr(before.header, name), getattr(after.header, name)) for name in names)
    return [f"{name} is {_shown(old)}, then {_shown(new)}" for name, old, new in pairs if old != new]


def _shown(value: object) -> str:
    return (", ".join(map(str, value)) or "empty") if isinstance(value, tuple) else str(value)
