"""Every mutant is found, and nothing else; every case and rule finds one."""

import ast
import inspect
import os
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from reference_server.bench import Told, failed, judged, matches, of_mutant, overridden, reaching
from reference_server.mutants import all_mutants
from reference_server.server import ReferenceServer

from specvino.conformance.cases.capabilities import CAPABILITIES
from specvino.conformance.cases.case import all_cases
from specvino.conformance.verdict import Verdict

MUTANTS = tuple(all_mutants())

Results = Callable[[type[ReferenceServer]], dict[str, Told]]


def name(mutant: type[ReferenceServer]) -> str:
    return f"{mutant.__module__.rpartition('.')[2]}.{mutant.__name__}"


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest) -> Iterator[Results]:
    """What the suite says of a mutant. All that are asked for are under way at once, a process for each processor."""
    tests = [
        test for test in request.session.items if isinstance(test, pytest.Function) and "results" in test.fixturenames
    ]
    asked = [test.callspec.params["mutant"] for test in tests if hasattr(test, "callspec")]
    if len(asked) < len(tests):  # the one that asks for all
        asked = [*MUTANTS]
    timed = [rule for rule, result in judged(ReferenceServer).items() if result.verdict is Verdict.SKIP]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        found = {
            mutant: pool.submit(of_mutant, mutant, reaching().get(overridden(mutant)[0], ()), timed)
            for mutant in dict.fromkeys(asked)
        }
        yield lambda mutant: found[mutant].result()
        for each in found.values():
            each.cancel()


def test_each_overrides_one_method_and_says_what_it_breaks() -> None:
    for mutant in MUTANTS:
        assert len(overridden(mutant)) == 1, name(mutant)
        assert hasattr(ReferenceServer, overridden(mutant)[0]), name(mutant)
        assert mutant.__doc__, name(mutant)
        assert mutant.breaks, name(mutant)


def test_no_two_are_the_same() -> None:
    known: dict[str, str] = {}
    for mutant in MUTANTS:
        method = ast.parse(textwrap.dedent(inspect.getsource(getattr(mutant, overridden(mutant)[0]))))
        assert known.setdefault(ast.dump(method), name(mutant)) == name(mutant)


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_is_found(mutant: type[ReferenceServer], results: Results) -> None:
    found = results(mutant)
    broken = failed(found)
    wrong = [
        f"{pattern} passes" for pattern in sorted(mutant.breaks) if not any(matches(rule, {pattern}) for rule in broken)
    ]
    for rule in sorted(broken):
        if found[rule].verdict is Verdict.ERROR or not matches(rule, mutant.breaks | mutant.also):
            wrong.append(f"{rule} is {found[rule].verdict}, which it doesn't say: {found[rule].said}")
    assert not wrong, f"{mutant.__name__}: {mutant.__doc__}\n" + "\n".join(wrong)


def test_each_case_and_rule_finds_a_mutant(results: Results) -> None:
    proved = {rule for mutant in MUTANTS for rule in failed(results(mutant)) if matches(rule, mutant.breaks)}
    cases = {case.rule for case in all_cases()}
    capabilities = {name.replace(".", "/capabilities/", 1).replace("_", "-") for name in CAPABILITIES}
    rules = {rule for rule in judged(ReferenceServer) if "/rules/" in rule}
    missing = sorted((cases | capabilities | rules) - proved)
    assert not missing, f"{len(missing)} have no mutant that they find:\n" + "\n".join(missing)
