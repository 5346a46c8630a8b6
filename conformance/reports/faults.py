"""Groups findings by fault: one fault of a server often breaks many rules, and is shown once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from specvino.conformance.reports.records import BAD, Line
from specvino.conformance.verdict import Severity, Verdict

# Variable parts of a message: quoted values (but no apostrophes), numbers, list indexes. The name of a missing property
# isn't variable.
VARIABLE = re.compile(
    r""" "(?:[^"\\]|\\.)*"(?![ ]is[ ]a[ ]required) | (?<!\w\w)'(?:[^'\\]|\\.)*'(?!\w) | (?<![a-z])-?\d+(?:\.\d+)? """,
    re.VERBOSE,
)

SEVERAL = re.compile("…(?:, …)+")

STATUS = re.compile(
    r"the (?:status|answer) is (?P<actual>\d)(?P<rest>\d\d), not (?P<expected>\d(?:\d\d|xx)(?: or \w+)*)"
)

# What is refused with a status; other statuses refuse invalid values.
REFUSALS = {"401": "keys", "403": "keys", "404": "names", "405": "methods", "413": "sizes", "415": "media types"}

# Rules that validate answers and events by their schemas.
SHAPES = ("answer-shape", "event-shape", "error-envelope", "unrouted-envelope")

# The rule for errors of unknown paths.
UNROUTED = "transport/rules/unrouted-envelope"

EVENT = re.compile(r"event \d+: ")

MISSING = re.compile(r'(?P<first>"[^"]*").*(?:is a required property|are required properties)')

# Messages that are one fault, whichever rules report them and whatever follows: error.param, a violated schema, a
# missing property, a limit or stop string without effect, a changed id, an unfinished choice.
SAME = re.compile(
    r"error\.param is [^\s,]+|violates? (?:the|its) schema|the answer has no (?!header )[\w.]+|tokens, though \w+ is"
    r"|the stop string|^the id differs"
    r"|(?P<unfinished>^choice \d+ (?:has no finish_reason|was never closed by finish)"
    r"|^choices\.\d+\.finish_reason is only present when not streamed)"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """The lines that report one fault. The first one is its cause, or an example."""

    lines: tuple[Line, ...]

    @property
    def head(self) -> Line:
        return self.lines[0]

    @property
    def others(self) -> tuple[Line, ...]:
        return self.lines[1:]


def faults(lines: Iterable[Line], *, accepted: bool = False) -> list[Fault]:
    """Returns the faults of broken rules: those that a baseline accepts, or those that it doesn't. Sorted by severity,
    then by the number of rules."""
    groups: dict[tuple[Severity, Verdict, str], list[Line]] = {}
    bad = [line for line in lines if line.verdict in BAD and line.accepted is accepted]
    bad.sort(key=_causes_first)
    by_rule = {line.rule: line for line in bad}
    severities = list(Severity)
    for line in bad:
        # Errors of a missing endpoint are those of any unknown path.
        unrouted = UNROUTED if line.follows.endswith("/error-envelope") else ""
        cause = by_rule.get(line.follows) or by_rule.get(unrouted, line)
        if severities.index(line.severity) < severities.index(cause.severity):
            cause = line  # a `must` rule isn't listed below advice
        groups.setdefault((cause.severity, cause.verdict, shape(cause)), []).append(line)
    all_faults = [Fault(tuple(group)) for group in groups.values()]
    return sorted(
        all_faults, key=lambda fault: (severities.index(fault.head.severity), -len(fault.lines), fault.head.rule)
    )


def shape(line: Line) -> str:
    """Returns a line's fault without variable parts. For a rule for all answers, it is the same for all endpoints."""
    endpoint, _, rest = line.rule.partition("/")
    if line.why.startswith(("the status is 5", "the answer is 5")):
        return f"{endpoint} fails"
    if status := STATUS.search(line.why):
        actual, expected = status["actual"], status["expected"]
        if (actual, expected[0]) == ("2", "4"):
            # Accepted invalid values are one fault; in HTTP, one for each subject.
            subject = f" in {rest.partition('/')[0]}" if endpoint == "transport" else ""
            return f"invalid {REFUSALS.get(expected, 'values')} are accepted{subject}"
        # Wrong refusals with different reasons are different faults.
        reason = _without_values(line.why.partition(": ")[2]) if (actual, expected[0]) == ("4", "2") else ""
        return f"{actual}{status['rest']}, not {expected}: {reason}"
    if same := SAME.search(line.why):
        return same.lastgroup or re.sub(r"\d+", "…", same[0])
    name = line.rule.rpartition("/rules/")[2] if "/rules/" in line.rule else ""
    return _property_fault(line.why) if name in SHAPES else f"{name}: {_without_values(line.why)}"


def _property_fault(why: str) -> str:
    """Returns the fault of a property, wherever its object is: in answers, events or nested objects."""
    location, _, problem = EVENT.sub("", why).partition(": ")
    if missing := MISSING.fullmatch(problem):
        return f"{missing['first']} is missing"
    return _without_values(f"{location.rpartition('.')[2]}: {problem}")


def _without_values(text: str) -> str:
    return SEVERAL.sub("…", VARIABLE.sub("…", text))


def _causes_first(line: Line) -> tuple[bool, bool, str]:
    return bool(line.follows), "/rules/" not in line.rule, line.rule
