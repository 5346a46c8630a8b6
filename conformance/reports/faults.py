"""Findings folded to faults: one fault of a server is often seen by many rules, and is told once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from specvino.conformance.reports.records import BAD, Line
from specvino.conformance.verdict import Severity, Verdict

# What differs between two tellings of one fault: quoted values, numbers, and the places of list elements.
VARIABLE = re.compile(r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | (?<![a-z])-?\d+(?:\.\d+)? """, re.VERBOSE)

STATUS = re.compile(r"the status is (?P<status>\d)\d\d, not (?P<expected>\d)")


@dataclass(frozen=True, slots=True)
class Fault:
    """Holds the lines that tell one fault: the first is its cause, or an example."""

    lines: tuple[Line, ...]

    @property
    def head(self) -> Line:
        return self.lines[0]

    @property
    def others(self) -> tuple[Line, ...]:
        return self.lines[1:]


def faults(lines: Iterable[Line]) -> list[Fault]:
    """Returns the faults that broken rules tell of, by the severity and the verdict of those rules: what binds most
    first, then what most rules tell of. Those that a baseline accepts are left out."""
    groups: dict[tuple[Severity, Verdict, str], list[Line]] = {}
    bad = sorted((line for line in lines if line.verdict in BAD and not line.accepted), key=_causes_first)
    shapes = {line.rule: shape(line) for line in bad}
    for line in bad:
        told = shapes.get(line.follows) or shapes[line.rule]
        groups.setdefault((line.severity, line.verdict, told), []).append(line)
    found = [Fault(tuple(group)) for group in groups.values()]
    severities = list(Severity)
    return sorted(found, key=lambda each: (severities.index(each.head.severity), -len(each.lines), each.head.rule))


def shape(line: Line) -> str:
    """Returns what a line tells without what differs from one telling to another: a rule for all answers by its name
    and what it found, whichever the endpoint."""
    if status := STATUS.match(line.why):
        # Why a server refuses what it has to take is another fault each time; that it takes what it must not isn't.
        said = line.why.partition(":")[2] if status["expected"] == "2" else ""
        return f"{status['status']}xx, not {status['expected']}xx{VARIABLE.sub('…', said)}"
    name = line.rule.rpartition("/rules/")[2] if "/rules/" in line.rule else ""
    return f"{name}: {VARIABLE.sub('…', line.why)}"


def _causes_first(line: Line) -> tuple[bool, bool, str]:
    return bool(line.follows), "/rules/" not in line.rule, line.rule
