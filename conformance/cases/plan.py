"""The plan of a run: which cases it has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from typing import Any, cast

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import Case, all_cases
from specvino.conformance.dialect import LEFT_OUT, WHOLE, Dialect, Kind
from specvino.conformance.endpoints import paths
from specvino.conformance.rules import RULES, RULES_OF_TRANSPORT

# The capability that can't be tested without a key.
AUTH = "transport.auth"


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a run. `left_out` has the reason for every other case of the profile, and for parts of rules, that
    this dialect doesn't have."""

    cases: tuple[Case, ...]
    left_out: dict[str, str]
    beside: tuple[Case, ...] = ()
    """Cases that run without being reported: filters name rules for their answers."""
    capabilities: tuple[str, ...] = ()
    """Capabilities that filters name."""
    rules: tuple[str, ...] | None = None
    """The rules for all answers and the capabilities that filters name; None to report those that the cases
    exercise."""

    @property
    def is_empty(self) -> bool:
        return not self.cases and not self.beside and not self.capabilities

    def reports(self, rule: str) -> bool:
        """Returns whether a rule for all answers, or a capability, is reported."""
        return self.rules is None or rule in self.rules


def plan(
    dialect: Dialect, *, profile: str, layers: Sequence[str], filters: Sequence[str] = (), key: bool = False
) -> Plan:
    """Chooses the cases of a run. `filters` are patterns of rule ids (`chat/*`), any of which selects a case; `key` is
    whether there is an API key."""
    chosen: list[Case] = []
    left_out: dict[str, str] = {}
    for case, why in _with_reasons(dialect):
        if case.layer not in layers or (profile == "core" and case.profile != "core"):
            continue
        if because := why or ("no key was given" if AUTH in case.needs and not key else ""):
            left_out[case.rule] = because
        else:
            chosen.append(case)
    # A filter that names no case may name a rule for all answers, or a capability.
    known = [*(case.rule for case in chosen), *left_out]
    others = [pattern for pattern in filters if not any(matches(rule, [pattern]) for rule in known)]
    reported = tuple(case for case in chosen if matches(case.rule, filters))
    left_out = {rule: because for rule, because in left_out.items() if matches(rule, filters)}
    if {"cases", "streams"} & {*layers}:
        left_out |= {rule: because for rule, because in dialect.unjudged.items() if matches(rule, filters)}
    if not others or not chosen:
        return Plan(reported, left_out)
    rules = {rule: endpoint for rule, endpoint in _rules(dialect) if matches(rule, others)}
    capabilities = {rule: name for rule, name in _capabilities(dialect, key) if matches(rule, others)}
    beside = _answering({*rules.values()}, chosen)
    named = (*(rule for rule, _ in _rules(dialect)), *(rule for rule, _ in _capabilities(dialect, key)))
    return Plan(
        reported,
        left_out,
        tuple(case for case in beside if case not in reported),
        tuple(capabilities.values()),
        tuple(rule for rule in named if matches(rule, filters)),
    )


@cache
def _with_reasons(dialect: Dialect) -> tuple[tuple[Case, str], ...]:
    """Returns every case, with the reason where the dialect doesn't have it."""
    return tuple((case, why_not(case, dialect)) for case in all_cases())


@cache
def _rules(dialect: Dialect) -> tuple[tuple[str, str], ...]:
    """Returns the rules for all answers, each with its endpoint."""
    return tuple(
        (f"{endpoint}/rules/{rule(dialect).name}", endpoint)
        for endpoint in (*dialect.operations, "transport")
        for rule in (RULES_OF_TRANSPORT if endpoint == "transport" else RULES)
    )


def _capabilities(dialect: Dialect, key: bool) -> Iterator[tuple[str, str]]:
    """Yields the ids of the capabilities that can be tried, each with its name."""
    for capability in all_capabilities().values():
        absent = capability.endpoint != "transport" and capability.endpoint not in dialect.operations
        level = dialect.level(capability.spec, capability.endpoint)
        if absent or level in LEFT_OUT or (capability.name == AUTH and not key):
            continue
        if capability.is_refused_by(dialect):
            continue
        yield capability.rule, capability.name


def _answering(endpoints: set[str], cases: Sequence[Case]) -> list[Case]:
    """Returns the cases whose answers are of these endpoints. Endpoints without cases of their own, such as reading a
    stored response, are used by any case; cases of the transport use each endpoint."""
    if endpoints - {case.endpoint for case in cases} or "transport" in endpoints:
        return [*cases]
    return [case for case in cases if case.endpoint in (*endpoints, "transport")] if endpoints else []


def matches(rule: str, filters: Sequence[str]) -> bool:
    return not filters or any(
        fnmatch(rule, pattern) or rule.startswith(f"{pattern.rstrip('/')}/") for pattern in filters
    )


def why_not(case: Case, dialect: Dialect) -> str:
    """Returns why the case isn't for the dialect's system; empty if it is."""
    if case.dialects and dialect.name not in case.dialects:
        return f"it is for {', '.join(case.dialects)}"
    return excluded_by_document(case, dialect)


def excluded_by_document(case: Case, dialect: Dialect) -> str:
    """Returns what in the dialect's document excludes a case, whichever dialects the case names; empty for nothing."""
    if case.endpoint in paths() and case.endpoint not in dialect.operations:
        return f"{dialect.name} has no {paths()[case.endpoint]}"
    if case.endpoint in paths() and dialect.operations[case.endpoint].is_only_at_root:
        return f"{dialect.name} has {paths()[case.endpoint]} outside of the base URL"
    for pointer, endpoint in (*((each, case.endpoint) for each in case.spec), *_needed(case)):
        level = dialect.level(pointer, endpoint)
        if level in LEFT_OUT or (case.whole and level != "full"):
            return f"{pointer.rsplit('/', 1)[-1]} is {level} in {dialect.name}"
    for needed in (all_capabilities()[name] for name in case.needs if name in all_capabilities()):
        if needed.is_refused_by(dialect):
            return f"the document of {dialect.name} refuses what {needed.rule} asks"
    for kind in _kinds(case):
        if dialect.statuses(kind, case.endpoint) is None:
            return f"it isn't known how {dialect.name} refuses it"
    if any(dialect.takes(case.endpoint, body) for body in _wrong_bodies(case)):
        return f"the document of {dialect.name} allows what has to be refused"
    if any(dialect.takes(case.endpoint, body) is False for body in _right_bodies(case)):
        return f"the document of {dialect.name} refuses the request"
    return ""


def _kinds(case: Case) -> Iterator[Kind]:
    """Yields the kinds of refusals that the case expects, where it accepts one kind alone."""
    for step in case.steps:
        kind = step.get("expect", {}).get("refused")
        if isinstance(kind, str):
            yield cast("Kind", kind)


def _wrong_bodies(case: Case) -> Iterator[Any]:
    """Yields the bodies that the whole document finds invalid: a system need not refuse those that its own document
    finds valid."""
    for step in case.steps:
        body = {"model": "any", **step["send"]} if "send" in step else step["raw"].get("body")
        if body is not None and _whole().takes(case.endpoint, body) is False:
            yield body


def _right_bodies(case: Case) -> Iterator[Any]:
    """Yields the bodies that the whole document finds valid, and that must be answered: a system need not answer those
    that its own document finds invalid."""
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
    """Yields the pointers of the capabilities that the case needs, each with its endpoint."""
    for name in case.needs:
        if name in all_capabilities() and all_capabilities()[name].endpoint in paths():
            yield all_capabilities()[name].spec, all_capabilities()[name].endpoint
