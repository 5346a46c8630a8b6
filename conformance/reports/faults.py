"""Findings grouped into faults: many rules often report one fault of a server, which is shown once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from specvino.conformance.reports.records import BAD, Line
from specvino.conformance.verdict import Severity, Verdict

# What differs between two reports of one fault: quoted values, numbers and list indexes; but not the name of a missing
# member.
VARIABLE = re.compile(
    r""" "(?:[^"\\]|\\.)*"(?![ ]is[ ]a[ ]required) | '(?:[^'\\]|\\.)*' | (?<![a-z])-?\d+(?:\.\d+)? """, re.VERBOSE
)

SEVERAL = re.compile("…(?:, …)+")

STATUS = re.compile(r"the (?:status|answer) is (?P<came>\d)(?P<rest>\d\d), not (?P<expected>\d(?:\d\d|xx)(?: or \w+)*)")

# What a status alone stands for; other statuses refuse wrong values.
REFUSALS = {"401": "keys", "403": "keys", "404": "names", "405": "methods", "413": "sizes", "415": "media types"}

# The rules that hold answers and events against their schemas.
SHAPES = ("answer-shape", "event-shape", "error-envelope", "unrouted-envelope")

# The rule for the errors of paths that aren't there.
UNROUTED = "transport/rules/unrouted-envelope"

EVENT = re.compile(r"event \d+: ")

MISSING = re.compile(r'(?P<first>"[^"]*").*(?:is a required property|are required properties)')

# Words after which all is one fault, whichever rule says them: a field isn't named, a schema doesn't hold, a member is
# missing, a limit or a stop string has no effect, an answer has another id when it is read, a choice doesn't finish.
SAME = re.compile(
    r"error\.param is [^\s,]+|breaks? (?:the|its) schema|the answer has no (?!header )[\w.]+|tokens, though \w+ is"
    r"|the stop string|^the id differs"
    r"|(?P<unfinished>^choice \d+ (?:has no finish_reason|was never closed by finish)"
    r"|^choices\.\d+\.finish_reason is there only when not streamed)"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """The lines that report one fault: the first is its cause, or an example."""

    lines: tuple[Line, ...]

    @property
    def head(self) -> Line:
        return self.lines[0]

    @property
    def others(self) -> tuple[Line, ...]:
        return self.lines[1:]


def faults(lines: Iterable[Line], *, accepted: bool = False) -> list[Fault]:
    """Returns the faults that broken rules tell of, those that a baseline accepts or those that it doesn't: what binds
    most first, then what most rules tell of."""
    groups: dict[tuple[Severity, Verdict, str], list[Line]] = {}
    bad = [line for line in lines if line.verdict in BAD and line.accepted is accepted]
    bad.sort(key=_causes_first)
    known = {line.rule: line for line in bad}
    severities = list(Severity)
    for line in bad:
        # The errors of a missing endpoint are reported as those of every such path.
        elsewhere = UNROUTED if line.follows.endswith("/error-envelope") else ""
        cause = known.get(line.follows) or known.get(elsewhere, line)
        if severities.index(line.severity) < severities.index(cause.severity):
            cause = line  # a binding rule is not listed below advice
        groups.setdefault((cause.severity, cause.verdict, shape(cause)), []).append(line)
    found = [Fault(tuple(group)) for group in groups.values()]
    return sorted(found, key=lambda fault: (severities.index(fault.head.severity), -len(fault.lines), fault.head.rule))


def shape(line: Line) -> str:
    """Returns the shape of a line's fault, without what differs between two reports of it: for a rule for all answers
    its name and finding, whatever the endpoint."""
    endpoint, _, rest = line.rule.partition("/")
    if line.why.startswith(("the status is 5", "the answer is 5")):
        return f"{endpoint} fails"
    if status := STATUS.search(line.why):
        came, expected = status["came"], status["expected"]
        if (came, expected[0]) == ("2", "4"):
            # Values of requests are one fault; those of HTTP are one for each subject.
            subject = f" in {rest.partition('/')[0]}" if endpoint == "transport" else ""
            return f"wrong {REFUSALS.get(expected, 'values')} are taken{subject}"
        # The reason for a wrong refusal differs from fault to fault.
        reason = _plain(line.why.partition(": ")[2]) if (came, expected[0]) == ("4", "2") else ""
        return f"{came}{status['rest']}, not {expected}: {reason}"
    if same := SAME.search(line.why):
        return same.lastgroup or re.sub(r"\d+", "…", same[0])
    name = line.rule.rpartition("/rules/")[2] if "/rules/" in line.rule else ""
    return _member(line.why) if name in SHAPES else f"{name}: {_plain(line.why)}"


def _member(why: str) -> str:
    """Returns the fault of an object's member, wherever the object is: in answers, events, other objects."""
    location, _, problem = EVENT.sub("", why).partition(": ")
    if missing := MISSING.fullmatch(problem):
        return f"{missing['first']} is missing"
    return _plain(f"{location.rpartition('.')[2]}: {problem}")


def _plain(text: str) -> str:
    return SEVERAL.sub("…", VARIABLE.sub("…", text))


def _causes_first(line: Line) -> tuple[bool, bool, str]:
    return bool(line.follows), "/rules/" not in line.rule, line.rule
