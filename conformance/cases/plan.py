"""The plan of a run: selects cases by dialect, profile, layers and filters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from typing import Any, cast

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import Case, all_cases
from specvino.conformance.dialect import LEFT_OUT, Dialect, Kind, own_dialect
from specvino.conformance.endpoints import documented_path, paths
from specvino.conformance.rules import RULES, RULES_OF_TRANSPORT

# The capability that needs an API key to be tested.
AUTH = "transport.auth"


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a run. `left_out` has the reasons for excluded cases, and for parts of rules that can't be checked
    for the dialect."""

    cases: tuple[Case, ...]
    left_out: dict[str, str]
    unreported: tuple[Case, ...] = ()
    """Cases that run without being reported, because filters name rules for their answers."""
    capabilities: tuple[str, ...] = ()
    """The capabilities that filters name."""
    rules: tuple[str, ...] | None = None
    """The rules for all answers and the capabilities that filters name; None to report all that the cases exercise."""

    @property
    def is_empty(self) -> bool:
        return not self.cases and not self.unreported and not self.capabilities

    def reports(self, rule: str) -> bool:
        """Returns whether a rule for all answers, or a capability, is reported."""
        return self.rules is None or rule in self.rules


def plan(
    dialect: Dialect, *, profile: str, layers: Sequence[str], filters: Sequence[str] = (), key: bool = False
) -> Plan:
    """Returns the plan of a run. `filters` are patterns of rule ids (`chat/*`), a case needs to match any of them.
    `key` is whether there is an API key."""
    chosen: list[Case] = []
    left_out: dict[str, str] = {}
    for case, reason in _cases_with_exclusions(dialect):
        if case.layer not in layers or (profile == "core" and case.profile != "core"):
            continue
        if because := reason or ("no key was given" if AUTH in case.needs and not key else ""):
            left_out[case.rule] = because
        else:
            chosen.append(case)
    # A filter without a matching case may name a rule for all answers, or a capability.
    case_rules = [*(case.rule for case in chosen), *left_out]
    others = [pattern for pattern in filters if not any(matches(rule, [pattern]) for rule in case_rules)]
    reported = tuple(case for case in chosen if matches(case.rule, filters))
    left_out = {rule: because for rule, because in left_out.items() if matches(rule, filters)}
    if {"cases", "streams"} & {*layers}:
        left_out |= {rule: because for rule, because in dialect.unchecked_rules.items() if matches(rule, filters)}
    if not others or not chosen:
        return Plan(reported, left_out)
    rules = {rule: endpoint for rule, endpoint in _rules(dialect) if matches(rule, others)}
    capabilities = {rule: name for rule, name in _capabilities(dialect, key) if matches(rule, others)}
    unreported = _cases_for({*rules.values()}, chosen)
    named = (*(rule for rule, _ in _rules(dialect)), *(rule for rule, _ in _capabilities(dialect, key)))
    return Plan(
        reported,
        left_out,
        tuple(case for case in unreported if case not in reported),
        tuple(capabilities.values()),
        tuple(rule for rule in named if matches(rule, filters)),
    )


# Of the last dialect only: its validators take tens of megabytes.
@lru_cache(maxsize=1)
def _cases_with_exclusions(dialect: Dialect) -> tuple[tuple[Case, str], ...]:
    """Returns all cases, with the reason if the dialect excludes it, otherwise an empty string."""
    return tuple((case, exclusion_reason(case, dialect)) for case in all_cases())


@lru_cache(maxsize=1)
def _rules(dialect: Dialect) -> tuple[tuple[str, str], ...]:
    """Returns the ids of the rules for all answers, with their endpoints."""
    return tuple(
        (f"{endpoint}/rules/{rule(dialect).name}", endpoint)
        for endpoint in (*dialect.operations, "transport")
        for rule in (RULES_OF_TRANSPORT if endpoint == "transport" else RULES)
    )


def _capabilities(dialect: Dialect, key: bool) -> Iterator[tuple[str, str]]:
    """Yields the ids and names of the capabilities that can be probed."""
    for capability in all_capabilities().values():
        absent = capability.endpoint != "transport" and capability.endpoint not in dialect.operations
        level = dialect.level(capability.spec, capability.endpoint)
        if absent or level in LEFT_OUT or (capability.name == AUTH and not key):
            continue
        if capability.is_refused_by(dialect):
            continue
        yield capability.rule, capability.name


def _cases_for(endpoints: set[str], cases: Sequence[Case]) -> list[Case]:
    """Returns the cases that exercise these endpoints. Transport cases use every endpoint; any case may use endpoints
    without cases of their own, such as reading a stored response."""
    if endpoints - {case.endpoint for case in cases} or "transport" in endpoints:
        return [*cases]
    return [case for case in cases if case.endpoint in (*endpoints, "transport")] if endpoints else []


def matches(rule: str, filters: Sequence[str]) -> bool:
    return not filters or any(
        fnmatch(rule, pattern) or rule.startswith(f"{pattern.rstrip('/')}/") for pattern in filters
    )


def exclusion_reason(case: Case, dialect: Dialect) -> str:
    """Returns why the case is excluded for the dialect; empty if it isn't."""
    if dialect.system in case.not_in or case.only not in (None, dialect.system):
        return case.excluded_because
    return excluded_by_document(case, dialect)


def excluded_by_document(case: Case, dialect: Dialect) -> str:
    """Returns why the dialect's document excludes a case, apart from `case.only` and `case.not_in`; empty if it
    doesn't."""
    if case.endpoint in paths() and case.endpoint not in dialect.operations:
        return f"{dialect.name} has no {documented_path(case.endpoint)}"
    path = paths().get(case.endpoint, "//")
    if not path.startswith("//") and dialect.operations[case.endpoint].is_only_at_root:
        return f"{dialect.name} has {paths()[case.endpoint]} outside the base URL"
    for pointer, endpoint in (*((pointer, case.endpoint) for pointer in case.spec), *_needed_fields(case)):
        level = dialect.level(pointer, endpoint)
        if level in LEFT_OUT or (case.needs_full_support and level != "full"):
            return f"{pointer.rsplit('/', 1)[-1]} is {level} in {dialect.name}"
    for needed in (all_capabilities()[name] for name in case.needs if name in all_capabilities()):
        if needed.is_refused_by(dialect):
            return f"the probe of {needed.rule} isn't valid by the document of {dialect.name}"
    for kind in _refusal_kinds(case):
        if dialect.statuses(kind, case.endpoint) is None:
            return f"the status of this refusal by {dialect.name} is unknown"
    if any(dialect.accepts(case.endpoint, body) for body in _invalid_bodies(case)):
        return f"the document of {dialect.name} allows the request that must be refused"
    if any(dialect.accepts(case.endpoint, body) is False for body in _valid_bodies(case)):
        return f"the request isn't valid by the document of {dialect.name}"
    return ""


def _refusal_kinds(case: Case) -> Iterator[Kind]:
    """Yields the kinds of refusal that steps require, if a step accepts only one."""
    for step in case.steps:
        kind = step.get("expect", {}).get("refused")
        if isinstance(kind, str):
            yield cast("Kind", kind)


def _invalid_bodies(case: Case) -> Iterator[Any]:
    """Yields the bodies that are invalid by the complete document. A system may accept those that its own document
    allows."""
    for step in case.steps:
        body = {"model": "any", **step["send"]} if "send" in step else step["raw"].get("body")
        if body is not None and own_dialect().accepts(case.endpoint, body) is False:
            yield body


def _valid_bodies(case: Case) -> Iterator[Any]:
    """Yields the bodies that must be answered and are valid by the complete document. A system may refuse those that
    its own document doesn't allow."""
    if case.check == "unknown_field":  # it accepts a refusal, too
        return
    answered = [step["send"] for step in case.steps if "send" in step and "refused" not in step.get("expect", {})]
    if "body" in case.arguments:
        answered.append(case.arguments["body"])
    for sent in answered:
        body = {"model": "any", **sent} if isinstance(sent, Mapping) else sent
        if own_dialect().accepts(case.endpoint, body):
            yield body


def _needed_fields(case: Case) -> Iterator[tuple[str, str]]:
    """Yields (pointer, endpoint) of the capabilities that the case needs."""
    for name in case.needs:
        if name in all_capabilities() and all_capabilities()[name].endpoint in paths():
            yield all_capabilities()[name].spec, all_capabilities()[name].endpoint
