"""The plan of a run: which cases it has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from typing import Any, cast

from specvino.conformance.cases.capabilities import CAPABILITIES
from specvino.conformance.cases.case import Case, all_cases
from specvino.conformance.cases.session import paths
from specvino.conformance.dialect import LEFT_OUT, WHOLE, Dialect, Kind

# The capability that can't be asked for without a key.
AUTH = "transport.auth"


@dataclass(frozen=True, slots=True)
class Plan:
    """Holds the cases of a run. `left_out` says of each other case of the profile, and of parts of rules, why this
    dialect hasn't it."""

    cases: tuple[Case, ...]
    left_out: dict[str, str]


def plan(
    dialect: Dialect, *, profile: str, layers: Sequence[str], filters: Sequence[str] = (), key: bool = False
) -> Plan:
    """Chooses the cases of a run. `filters` are patterns of rules' ids (`chat/*`), any of which lets a case in; `key`
    tells whether there is one."""
    chosen: list[Case] = []
    left_out: dict[str, str] = {}
    for case in all_cases():
        if case.layer not in layers or (profile == "core" and case.profile != "core"):
            continue
        if not matches(case.rule, filters):
            continue
        if because := why_not(case, dialect) or ("no key was given" if AUTH in case.needs and not key else ""):
            left_out[case.rule] = because
        else:
            chosen.append(case)
    if {"cases", "streams"} & {*layers}:
        left_out |= {rule: because for rule, because in dialect.unjudged.items() if matches(rule, filters)}
    return Plan(tuple(chosen), left_out)


def matches(rule: str, filters: Sequence[str]) -> bool:
    return not filters or any(fnmatch(rule, each) or rule.startswith(f"{each.rstrip('/')}/") for each in filters)


def why_not(case: Case, dialect: Dialect) -> str:
    """Returns why nothing of the kind can be asked of the dialect's system; it is empty where it can."""
    if case.dialects and dialect.name not in case.dialects:
        return f"it is for {', '.join(case.dialects)}"
    return what_says_no(case, dialect)


def what_says_no(case: Case, dialect: Dialect) -> str:
    """Returns what in the dialect's document leaves a case out, whichever dialects the case is for; it is empty for
    nothing."""
    if case.endpoint in paths() and case.endpoint not in dialect.operations:
        return f"{dialect.name} has no {paths()[case.endpoint]}"
    if case.endpoint in paths() and dialect.operations[case.endpoint].is_only_at_root:
        return f"{dialect.name} has {paths()[case.endpoint]} outside of the base URL"
    for pointer, endpoint in (*((each, case.endpoint) for each in case.spec), *_needed(case)):
        level = dialect.level(pointer, endpoint)
        if level in LEFT_OUT or (case.whole and level != "full"):
            return f"{pointer.rsplit('/', 1)[-1]} is {level} in {dialect.name}"
    for kind in _kinds(case):
        if dialect.statuses(kind, case.endpoint) is None:
            return f"nobody knows how {dialect.name} refuses it"
    if any(dialect.takes(case.endpoint, body) for body in _wrong_bodies(case)):
        return f"the document of {dialect.name} allows what has to be refused"
    if any(dialect.takes(case.endpoint, body) is False for body in _right_bodies(case)):
        return f"the document of {dialect.name} refuses what is asked"
    return ""


def _kinds(case: Case) -> Iterator[Kind]:
    """Yields what the case wants requests refused for, where one kind alone will do."""
    for step in case.steps:
        kind = step.get("expect", {}).get("refused")
        if isinstance(kind, str):
            yield cast("Kind", kind)


def _wrong_bodies(case: Case) -> Iterator[Any]:
    """Yields the bodies that the whole document finds invalid: what a system's document finds valid, it need not
    refuse."""
    for step in case.steps:
        body = {"model": "any", **step["send"]} if "send" in step else step["raw"].get("body")
        if body is not None and _whole().takes(case.endpoint, body) is False:
            yield body


def _right_bodies(case: Case) -> Iterator[Any]:
    """Yields the bodies that the whole document finds valid, and that have to be answered: a system need not answer
    what its own document finds invalid."""
    answered = [step["send"] for step in case.steps if "send" in step and "refused" not in step.get("expect", {})]
    if "body" in case.arguments:
        answered.append(case.arguments["body"])
    for sent in answered:
        body = {"model": "any", **sent} if isinstance(sent, Mapping) else sent
        if _whole().takes(case.endpoint, body):
            yield body


@cache
def _whole() -> Dialect:
    return Dialect(WHOLE)


def _needed(case: Case) -> Iterator[tuple[str, str]]:
    """Yields what the document says of the capabilities that the case needs, each with the endpoint that has it."""
    for name in case.needs:
        if name in CAPABILITIES and CAPABILITIES[name].endpoint in paths():
            yield CAPABILITIES[name].spec, CAPABILITIES[name].endpoint
