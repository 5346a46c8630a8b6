"""Every defect is found, and nothing else; every case and rule finds one."""

import ast
import inspect
import os
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from support.faux import Told, failed, judged, matches, of_defect, overridden, reaching

from specvino.conformance.capabilities import CAPABILITIES
from specvino.conformance.case import all_cases
from specvino.conformance.faux.defects import all_defects
from specvino.conformance.faux.server import Faux
from specvino.conformance.verdict import Verdict

DEFECTS = tuple(all_defects())

Results = Callable[[type[Faux]], dict[str, Told]]


def name(defect: type[Faux]) -> str:
    return f"{defect.__module__.rpartition('.')[2]}.{defect.__name__}"


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest) -> Iterator[Results]:
    """What the suite says of a defect. All that are asked for are under way at once, a process for each processor."""
    tests = [
        test for test in request.session.items if isinstance(test, pytest.Function) and "results" in test.fixturenames
    ]
    asked = [test.callspec.params["defect"] for test in tests if hasattr(test, "callspec")]
    if len(asked) < len(tests):  # the one that asks for all
        asked = [*DEFECTS]
    timed = [rule for rule, result in judged(Faux).items() if result.verdict is Verdict.SKIP]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        found = {
            defect: pool.submit(of_defect, defect, reaching().get(overridden(defect)[0], ()), timed)
            for defect in dict.fromkeys(asked)
        }
        yield lambda defect: found[defect].result()
        for each in found.values():
            each.cancel()


def test_each_overrides_one_method_and_says_what_it_breaks() -> None:
    for defect in DEFECTS:
        assert len(overridden(defect)) == 1, name(defect)
        assert hasattr(Faux, overridden(defect)[0]), name(defect)
        assert defect.__doc__, name(defect)
        assert defect.breaks, name(defect)


def test_no_two_are_the_same() -> None:
    known: dict[str, str] = {}
    for defect in DEFECTS:
        method = ast.parse(textwrap.dedent(inspect.getsource(getattr(defect, overridden(defect)[0]))))
        assert known.setdefault(ast.dump(method), name(defect)) == name(defect)


@pytest.mark.parametrize("defect", DEFECTS, ids=name)
def test_is_found(defect: type[Faux], results: Results) -> None:
    found = results(defect)
    broken = failed(found)
    wrong = [
        f"{pattern} passes" for pattern in sorted(defect.breaks) if not any(matches(rule, {pattern}) for rule in broken)
    ]
    for rule in sorted(broken):
        if found[rule].verdict is Verdict.ERROR or not matches(rule, defect.breaks | defect.also):
            wrong.append(f"{rule} is {found[rule].verdict}, which it doesn't say: {found[rule].said}")
    assert not wrong, f"{defect.__name__}: {defect.__doc__}\n" + "\n".join(wrong)


def test_each_case_and_rule_finds_a_defect(results: Results) -> None:
    proved = {rule for defect in DEFECTS for rule in failed(results(defect)) if matches(rule, defect.breaks)}
    cases = {case.rule for case in all_cases()}
    capabilities = {name.replace(".", "/capabilities/", 1).replace("_", "-") for name in CAPABILITIES}
    rules = {rule for rule in judged(Faux) if "/rules/" in rule}
    missing = sorted((cases | capabilities | rules) - proved)
    assert not missing, f"{len(missing)} have no defect that they find:\n" + "\n".join(missing)
