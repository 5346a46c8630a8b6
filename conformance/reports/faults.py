"""Findings folded to faults: one fault of a server is often seen by many rules, and is told once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from specvino.conformance.reports.records import BAD, Line
from specvino.conformance.verdict import Severity, Verdict

# What differs between two tellings of one fault: quoted values, numbers, and the places of list elements; but not the
# name of a member that isn't there.
VARIABLE = re.compile(
    r""" "(?:[^"\\]|\\.)*"(?![ ]is[ ]a[ ]required) | '(?:[^'\\]|\\.)*' | (?<![a-z])-?\d+(?:\.\d+)? """, re.VERBOSE
)

SEVERAL = re.compile("…(?:, …)+")

STATUS = re.compile(r"the (?:status|answer) is (?P<came>\d)\d\d, not (?P<expected>\d)")

# The rules that hold answers and events against their schemas.
SHAPES = ("answer-shape", "event-shape", "error-envelope")

EVENT = re.compile(r"event \d+: ")

# Beginnings after which all is one fault: that a server fails, doesn't name a field, doesn't hold schemas.
SAME = re.compile(r"^the status is 5|error\.param is \S+|breaks? (?:the|its) schema")


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
    """Returns the faults that broken rules tell of: what binds most first, then what most rules tell of. Those that a
    baseline accepts are left out."""
    groups: dict[tuple[Severity, Verdict, str], list[Line]] = {}
    bad = sorted((line for line in lines if line.verdict in BAD and not line.accepted), key=_causes_first)
    known = {line.rule: line for line in bad}
    for line in bad:
        cause = known.get(line.follows, line)
        groups.setdefault((cause.severity, cause.verdict, shape(cause)), []).append(line)
    found = [Fault(tuple(group)) for group in groups.values()]
    severities = list(Severity)
    return sorted(found, key=lambda each: (severities.index(each.head.severity), -len(each.lines), each.head.rule))


def shape(line: Line) -> str:
    """Returns what a line tells without what differs from one telling to another: a rule for all answers by its name
    and what it found, whichever the endpoint."""
    if status := STATUS.search(line.why):
        came, expected = status["came"], status["expected"]
        # Why a server refuses what it has to take differs from fault to fault; what it takes wrongly doesn't.
        said = _plain(line.why.partition(": ")[2]) if (came, expected) == ("4", "2") else ""
        return f"{came}xx, not {expected}xx: {said}"
    if same := SAME.search(line.why):
        return same[0]
    name = line.rule.rpartition("/rules/")[2] if "/rules/" in line.rule else ""
    return _member(line.why) if name in SHAPES else f"{name}: {_plain(line.why)}"


def _member(why: str) -> str:
    """Returns what is wrong with a member of an object, wherever the object is: in answers, events, other objects."""
    place, _, said = EVENT.sub("", why).partition(": ")
    return _plain(said if "is a required property" in said else f"{place.rpartition('.')[2]}: {said}")


def _plain(said: str) -> str:
    return SEVERAL.sub("…", VARIABLE.sub("…", said))


def _causes_first(line: Line) -> tuple[bool, bool, str]:
    return bool(line.follows), "/rules/" not in line.rule, line.rule
