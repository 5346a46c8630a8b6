"""Mutation testing of the suite: what each mutant of the reference server breaks, and what it says that it breaks."""

import fnmatch
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from reference_server.bench import BY_BOUNDS, BY_TIME, KEY, MODEL, PACE, bench, judged, told, whole_plan
from reference_server.part import Part
from reference_server.server import ReferenceServer
from specvino.conformance.cases.plan import Plan
from specvino.conformance.rule_ids import all_rules
from specvino.conformance.verdict import Verdict
from specvino.document import yaml_text

BROKEN = Path(__file__).with_name("mutants") / "broken.yaml"
"""By the name of a mutant, every rule that it breaks."""

Mutant = type[Part]


class Told(NamedTuple):
    """A verdict and why."""

    verdict: Verdict
    said: str


def name(mutant: Mutant) -> str:
    return f"{mutant.__module__.rpartition('.')[2]}.{mutant.__name__}"


@cache
def broken() -> Mapping[str, frozenset[str]]:
    """What the file says."""
    return {name: frozenset(rules) for name, rules in yaml_text.load(BROKEN.read_text("utf-8")).items()}


def meant(mutant: Mutant) -> set[str]:
    """The rules that a mutant is there for: a pattern in `breaks` means every rule that there is of it."""
    return {rule for pattern in mutant.breaks for rule in (fnmatch.filter(all_rules(), pattern) or [pattern])}


def overridden(mutant: Mutant) -> list[str]:
    return [name for name, value in vars(mutant).items() if inspect.isfunction(value)]


def failed(results: Mapping[str, Told]) -> set[str]:
    return {rule for rule, result in results.items() if result.verdict in (Verdict.FAIL, Verdict.ERROR)}


def tried(mutant: Mutant) -> dict[str, Told]:
    """What the suite says of a mutant, by the cases that can see it.

    Of the cases that compare times, or try all bounds, only those are run that it is there for.
    """
    concerned = reaching().get(overridden(mutant)[0], frozenset())
    slowly = BY_TIME & meant(mutant)
    results = judged(mutant, only=concerned - BY_TIME | BY_BOUNDS & meant(mutant))
    for _ in range(3 if slowly else 0):  # a busy machine can hide how long something takes
        again = judged(mutant, pace=PACE, only=slowly)
        results |= {rule: result for rule, result in again.items() if rule in slowly}
        if all(results[rule].verdict is Verdict.FAIL for rule in slowly):
            break
    return {rule: Told(result.verdict, told(result)) for rule, result in results.items()}


@cache
def reaching() -> dict[str, frozenset[str]]:
    """By a method's name the cases that have the correct server call it, but those of BY_BOUNDS: a mutant of it can't
    change any other."""
    called: set[str] = set()
    found: dict[str, set[str]] = {}
    plans = [Plan((case,), {}) for case in whole_plan("specvino").cases]
    coming = iter(plans)

    def noting(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **named: Any) -> Any:
            called.add(name)
            return method(*arguments, **named)

        return noted

    def after() -> None:
        rule = next(coming).cases[0].rule
        for name in called:
            found.setdefault(name, set()).add(rule)
        called.clear()

    def noted(part: Mutant) -> Mutant:
        methods = {name: method for name, method in vars(part).items() if inspect.isfunction(method)}
        return type(
            "Noted", (part,), {name: noting(name, each) for name, each in methods.items() if not name.startswith("__")}
        )

    server = ReferenceServer(*map(noted, Part.__subclasses__()), key=KEY, model=MODEL)
    bench().judged(server, "specvino", plans, after)
    return {name: frozenset(rules) for name, rules in found.items()}
