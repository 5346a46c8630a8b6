"""Mutation testing of the suite: what each mutant of the reference server breaks, and what it says that it breaks."""

import fnmatch
import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from reference_server.bench import (
    BY_REQUESTS,
    BY_TIME,
    KEY,
    MODEL,
    PACE,
    bench,
    full_plan,
    judged,
    message_of,
    whole_plan,
)
from reference_server.part import Part
from reference_server.server import ReferenceServer
from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import Case
from specvino.conformance.cases.plan import Plan
from specvino.conformance.http.client import Target
from specvino.conformance.reports.convert import Converter
from specvino.conformance.reports.faults import Fault
from specvino.conformance.reports.faults import faults as reported_faults
from specvino.conformance.rule_catalog import all_rules
from specvino.conformance.verdict import Result, Verdict

Mutant = type[Part]

BATCH = 16
"""Cases that are run together to make a rule for all answers fail; a rule that needs more gets the next ones."""


def name(mutant: Mutant) -> str:
    return f"{mutant.__module__.rpartition('.')[2]}.{mutant.__name__}"


def meant(mutant: Mutant) -> set[str]:
    """The rules that a mutant is there for: a pattern in `breaks` means every rule that there is of it."""
    return {rule for pattern in mutant.breaks for rule in (fnmatch.filter(all_rules(), pattern) or [pattern])}


def overridden(mutant: Mutant) -> list[str]:
    return [name for name, value in vars(mutant).items() if inspect.isfunction(value)]


def failed(results: Mapping[str, Result]) -> set[str]:
    return {rule for rule, result in results.items() if result.verdict in (Verdict.FAIL, Verdict.ERROR)}


def faults(mutant: Mutant, verdicts: Mapping[str, Result]) -> list[str]:
    """What is wrong with these verdicts on a mutant, a line for each."""
    unseen = [f"{rule} passes" for rule in sorted(meant(mutant) - failed(verdicts))]
    errors = [rule for rule, result in verdicts.items() if result.verdict is Verdict.ERROR]
    return unseen + [f"{rule} is an error: {message_of(verdicts[rule])}" for rule in sorted(errors)]


def reported(results: Mapping[str, Result]) -> list[Fault]:
    """The faults of a report with these results."""
    converter = Converter(Target("http://127.0.0.1:1/v1", key=KEY, model=MODEL))
    return reported_faults(map(converter.line, results.values()))


def proved(*mutants: Mutant) -> dict[str, Result]:
    """The verdicts on what a server's mutants are there for, and on what else those few requests show.

    A rule for all answers is tried on the cases of its endpoint, only until it fails.
    """
    expected = set().union(*map(meant, mutants))
    full = full_plan("specvino").cases
    cases = [case for case in full if case.rule in expected - BY_TIME - BY_REQUESTS]
    capabilities = [name for name, capability in all_capabilities().items() if capability.rule in expected]
    results = _judged(mutants, cases, capabilities) | _by_pace(mutants, expected)
    for rule in sorted(rule for rule in expected if "/rules/" in rule):
        waiting = by_nearness(whole_plan("specvino").cases, rule)
        while waiting and rule not in failed(results):
            verdicts = _judged(mutants, waiting[:BATCH])
            results |= {rule: verdict for rule, verdict in verdicts.items() if rule not in failed(results)}
            del waiting[:BATCH]
    return results


def tried(mutant: Mutant) -> dict[str, Result]:
    """The verdicts of all cases that can see a mutant, and those that prove it."""
    results = judged(mutant, only=concerned(mutant))
    return results | {rule: result for rule, result in proved(mutant).items() if rule not in failed(results)}


def row(mutant: Mutant) -> tuple[dict[str, Result], list[str]]:
    """The verdicts of all cases that can see a mutant, and the titles of the faults that a report of them has."""
    results = tried(mutant)
    return results, [fault.title for fault in reported(results)]


def _by_pace(mutants: Iterable[Mutant], expected: set[str]) -> dict[str, Result]:
    """The verdicts of the cases for which tokens take time, as far as mutants are there for them."""
    slowly, counting = BY_TIME & expected, BY_REQUESTS & expected
    counted = judged(*mutants, pace=math.inf, only=counting) if counting else {}
    results = {rule: result for rule, result in counted.items() if rule in counting}
    for _ in range(3 if slowly else 0):  # a busy machine can hide how long something takes
        again = judged(*mutants, pace=PACE, only=slowly)
        results |= {rule: result for rule, result in again.items() if rule in slowly}
        if slowly <= failed(results):
            break
    return results


def _judged(mutants: Iterable[Mutant], cases: Iterable[Case], capabilities: Iterable[str] = ()) -> dict[str, Result]:
    plan = Plan(tuple(cases), {}, capabilities=tuple(capabilities))
    return bench().judged(ReferenceServer(*mutants, key=KEY, model=MODEL), "specvino", [plan])


def by_nearness(cases: Iterable[Case], rule: str) -> list[Case]:
    """The cases, those of the rule's endpoint or of one beside it (`response_deletion`, `responses`) first."""
    endpoint = rule.partition("/")[0].partition("_")[0]
    return sorted(cases, key=lambda case: not case.endpoint.startswith(endpoint))


def concerned(part: Mutant, *beside: type[Part], by: str = "specvino") -> frozenset[str]:
    """The cases that can see a part, on a correct server with others `beside` it: those that call what it overrides."""
    reached = reaching(beside, by)
    return frozenset().union(*(reached.get(name, ()) for name in overridden(part)))


@cache
def reaching(beside: tuple[type[Part], ...], by: str) -> dict[str, frozenset[str]]:
    """By a method's name the cases that have the correct server, with others `beside` it, call it, but those of
    BY_BOUNDS: a mutant of it can't change any other."""
    called: set[str] = set()
    rules_by_name: dict[str, set[str]] = {}
    plans = [Plan((case,), {}) for case in whole_plan(by).cases]
    coming = iter(plans)

    def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            called.add(name)
            return method(*arguments, **named)

        return noted

    def after() -> None:
        rule = next(coming).cases[0].rule
        for name in called:
            rules_by_name.setdefault(name, set()).add(rule)
        called.clear()

    def noted(part: Mutant) -> Mutant:
        known = {name: member for base in reversed(part.__mro__) for name, member in vars(base).items()}
        methods = {name: member for name, member in known.items() if inspect.isfunction(member)}
        return type(
            "Noted",
            (part,),
            {name: noting(name, method) for name, method in methods.items() if not name.startswith("__")},
        )

    # The first one of a kind takes the place.
    server = ReferenceServer(*map(noted, (*beside, *Part.__subclasses__())), key=KEY, model=MODEL)
    bench().judged(server, by, plans, after)
    return {name: frozenset(rules) for name, rules in rules_by_name.items()}
