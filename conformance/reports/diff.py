"""The differences between two runs: what got better or worse. A rule with a new fault got worse."""

from dataclasses import dataclass, field

from specvino.conformance.reports.records import BAD, JUDGED, Line, Report
from specvino.conformance.verdict import Severity, Verdict


@dataclass(slots=True)
class Diff:
    """Pairs of lines before and after, by the kind of change. `other` are changes from or to a verdict that says
    nothing about the server."""

    fail_on: Severity
    worse: list[tuple[Line, Line]] = field(default_factory=list)
    better: list[tuple[Line, Line]] = field(default_factory=list)
    other: list[tuple[Line, Line]] = field(default_factory=list)
    same: int = 0
    gone: list[Line] = field(default_factory=list)
    """Rules of the first run alone."""
    new: list[Line] = field(default_factory=list)

    @property
    def newly_bad(self) -> list[Line]:
        """Returns the rules of the second run alone that are broken."""
        return [line for line in self.new if line.verdict in BAD]

    @property
    def is_worse(self) -> bool:
        """Returns whether more rules are broken by which the later run fails (`--fail-on`)."""
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
        _sort((old[rule], new[rule]), diff)
    diff.gone = [old[rule] for rule in sorted(old.keys() - new.keys())]
    diff.new = [new[rule] for rule in sorted(new.keys() - old.keys())]
    return diff


def _sort(pair: tuple[Line, Line], found: Diff) -> None:
    old, new = pair[0].verdict, pair[1].verdict
    if old == new and new_faults(*pair):
        found.worse.append(pair)
    elif old == new:
        found.same += 1
    elif new in BAD and old not in BAD:
        found.worse.append(pair)
    elif old not in JUDGED or new not in JUDGED or RANK[old] == RANK[new]:
        found.other.append(pair)
    elif RANK[new] > RANK[old]:
        found.better.append(pair)
    else:
        found.worse.append(pair)


def new_faults(before: Line, after: Line) -> list[str]:
    """Returns the messages of faults that are in the second run, but not in the first."""
    known = {finding.fault for finding in before.findings}
    return [finding.message for finding in after.findings if finding.fault not in known]


# Fields of a header that aren't the plan of the run: the tool, the time, the server, and which rules make a run fail.
# Which rules a dialect leaves out follows from the plan, or from the versions of the tool and of the rules.
BESIDE = ("kind", "format", "tool", "rules", "url", "model", "started", "fail_on", "left_out")


def differences(before: Report, after: Report) -> list[str]:
    """Returns the differences between the plans of the runs, which then can't be compared."""
    names = (name for name in type(after.header).model_fields if name not in BESIDE)
    pairs = ((name, getattr(before.header, name), getattr(after.header, name)) for name in names)
    return [f"{name} is {_shown(old)}, then {_shown(new)}" for name, old, new in pairs if old != new]


def _shown(value: object) -> str:
    return (", ".join(map(str, value)) or "empty") if isinstance(value, tuple) else str(value)
