"""Groups findings by fault: one fault of a server often breaks many rules, and is shown once."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specvino.conformance.reports.causes import Cause, title
from specvino.conformance.reports.following import fields, operations, possible_causes
from specvino.conformance.reports.meanings import causes
from specvino.conformance.reports.records import BAD, FaultRecord, FindingRecord, Line
from specvino.conformance.verdict import Severity

# The rule for errors of unknown paths.
UNROUTED = "transport/rules/unrouted-envelope"

SEVERITIES = list(Severity)


@dataclass(frozen=True, slots=True)
class Fault:
    """The lines that report one fault, each with those of its findings that do. The first line is the fault's cause, or
    an example. `title` is a sentence without a full stop: what the lines have in common."""

    title: str
    lines: tuple[Line, ...]

    @property
    def head(self) -> Line:
        return self.lines[0]

    @property
    def others(self) -> tuple[Line, ...]:
        return self.lines[1:]

    def messages(self) -> dict[str, list[Line]]:
        """Returns the other lines by the messages of their findings."""
        messages: dict[str, list[Line]] = defaultdict(list)
        for line in self.others:
            for message in dict.fromkeys(finding.message for finding in line.findings) or [line.why]:
                messages[message].append(line)
        return messages

    def name(self, line: Line) -> str:
        """Returns the rule of a line, with its severity if it binds less than the first line."""
        return line.rule if line.severity is self.head.severity else f"{line.rule} ({line.severity})"


@dataclass(frozen=True, slots=True)
class Item:
    """A finding of a broken rule; without findings, the error of its check."""

    line: Line
    finding: FindingRecord
    causes: tuple[Cause, ...]

    @property
    def numbers(self) -> set[int]:
        return {exchange.number for exchange in self.finding.exchanges}

    @property
    def is_of_all_answers(self) -> bool:
        return "/rules/" in self.line.rule and self.line.layer != "parity"

    def binds_more(self, other: "Item") -> bool:
        return SEVERITIES.index(self.line.severity) < SEVERITIES.index(other.line.severity)


class Groups:
    """Disjoint groups of items by their indexes. `following` are items that follow from others of their group."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.following: set[int] = set()
        self._parents = list(range(len(items)))

    def of(self, index: int) -> int:
        while self._parents[index] != index:
            index = self._parents[index]
        return index

    def join(self, one: int, other: int) -> None:
        self._parents[max(self.of(one), self.of(other))] = min(self.of(one), self.of(other))

    def follow(self, followers: Iterable[int], cause: int) -> None:
        """Joins items with one that they follow from. A rule that binds doesn't follow from advice."""
        root = self.of(cause)
        others = [index for index in followers if self.of(index) != root]
        if not any(self.items[index].binds_more(self.items[cause]) for index in others):
            for index in others:
                self.join(index, cause)
            self.following.update(others)

    def all(self) -> list[list[int]]:
        members = defaultdict(list)
        for index in range(len(self._parents)):
            members[self.of(index)].append(index)
        return list(members.values())


def faults(lines: Iterable[Line], *, accepted: bool = False) -> list[Fault]:
    """Returns the faults of broken rules: those that a baseline accepts, or those that it doesn't. Sorted by severity,
    then by the number of rules."""
    items = [
        Item(line, finding, causes(line, finding))
        for line in sorted(lines, key=_of_all_answers_first)
        if line.verdict in BAD
        for finding in line.findings or (FindingRecord(message=line.because or line.says),)
        if (line.accepted or finding.accepted) is accepted
    ]
    groups = Groups(items)
    _join_same(groups)
    _follow_rules(groups)
    _follow_cases(groups)
    _follow_causes(groups)
    all_faults = [_fault(group, groups) for group in groups.all()]
    return sorted(
        all_faults, key=lambda fault: (SEVERITIES.index(fault.head.severity), -len(fault.lines), fault.head.rule)
    )


def fault_records(lines: Sequence[Line]) -> tuple[FaultRecord, ...]:
    """Returns all faults, whether a baseline accepts them or not, as records."""
    return tuple(
        FaultRecord(
            title=fault.title,
            severity=fault.head.severity,
            rules=tuple(line.rule for line in fault.lines),
            accepted=accepted,
        )
        for accepted in (False, True)
        for fault in faults(lines, accepted=accepted)
    )


def _join_same(groups: Groups) -> None:
    """Joins findings of the same cause."""
    first: dict[object, int] = {}
    for index, item in enumerate(groups.items):
        for cause in item.causes:
            groups.join(index, first.setdefault((item.line.verdict, cause.key), index))


def _follow_rules(groups: Groups) -> None:
    """Joins findings with that of the rule for all answers which the same answer breaks."""
    by_rule: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(groups.items):
        by_rule[item.line.rule].append(index)
    for index, item in enumerate(groups.items):
        follows = item.line.follows
        # Errors of a missing endpoint are those of any unknown path.
        unrouted = UNROUTED if follows.endswith("/error-envelope") else ""
        candidates = by_rule.get(follows) or by_rule.get(unrouted) or []
        same = [
            other
            for other in candidates
            if groups.items[other].numbers & item.numbers or groups.items[other].finding.message == item.finding.message
        ]
        if same or len(candidates) == 1:
            groups.follow([index], (same or candidates)[0])


def _follow_cases(groups: Groups) -> None:
    """Joins what a rule for all answers finds only in answers with which a case fails: all others keep to it."""
    failing: dict[int, int] = {}
    for index, item in enumerate(groups.items):
        if not item.is_of_all_answers:
            failing = dict.fromkeys(item.numbers, index) | failing
    for index, item in enumerate(groups.items):
        line = item.line
        # Without `because`, the findings show all answers that break the rule.
        is_whole = item.is_of_all_answers and not line.because and line.judged > len(line.findings)
        if is_whole and item.numbers and item.numbers <= failing.keys():
            groups.follow([index], failing[min(item.numbers)])


def _follow_causes(groups: Groups) -> None:
    """Joins a group of which each finding may follow from the same cause with the group of that cause."""
    known: dict[object, int] = {}
    for index, item in enumerate(groups.items):
        for cause in item.causes:
            known.setdefault((item.line.verdict, cause.key), index)
            for operation in operations(item.finding) if cause.field else ():
                known.setdefault((cause.field, operation), index)
    for group in groups.all():
        possible = []
        for item in (groups.items[index] for index in group):
            keys: list[object] = [(item.line.verdict, cause.key) for cause in possible_causes(item.line, item.finding)]
            named = fields(item.finding, item.causes)
            keys += [(name, operation) for name in named for operation in operations(item.finding)]
            possible.append({groups.of(known[key]): known[key] for key in keys if key in known})
        for root in sorted(set.intersection(*map(set, possible))):
            groups.follow(group, possible[0][root])


def _fault(group: Sequence[int], groups: Groups) -> Fault:
    findings: dict[str, list[FindingRecord]] = defaultdict(list)
    roots = [index for index in group if index not in groups.following]
    for index in (*roots, *(index for index in group if index not in roots)):
        findings[groups.items[index].line.rule].append(groups.items[index].finding)
    lines = {groups.items[index].line.rule: groups.items[index].line for index in group}
    told = [
        lines[rule].model_copy(update={"findings": tuple(some)}) if lines[rule].findings else lines[rule]
        for rule, some in findings.items()
    ]
    told.sort(key=lambda line: SEVERITIES.index(line.severity))
    return Fault(title([cause for index in roots for cause in groups.items[index].causes], told[0].why), tuple(told))


def _of_all_answers_first(line: Line) -> tuple[bool, bool, str]:
    return bool(line.follows), "/rules/" not in line.rule, line.rule
