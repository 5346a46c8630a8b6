"""Every defect is found, and nothing else; every case and rule finds one."""

import os
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


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest) -> Iterator[Results]:
    """What the suite says of a defect. All that the session asks for are under way at once, in a process for each
    processor."""
    items = [item for item in request.session.items if item.path == request.path]
    named = [item.callspec.params["defect"] for item in items if "defect" in getattr(item, "fixturenames", ())]
    asked = DEFECTS if any(item.name == "test_each_case_and_rule_finds_a_defect" for item in items) else named
    timed = [rule for rule, result in judged(Faux).items() if result.verdict is Verdict.SKIP]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        found = {
            defect: pool.submit(of_defect, defect, reaching().get(overridden(defect)[0], ()), timed)
            for defect in dict.fromkeys(asked)
        }
        yield lambda defect: found[defect].result()
        for each in found.values():
            each.cancel()


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.__name__)
def test_overrides_one_method_and_says_what_it_breaks(defect: type[Faux]) -> None:
    assert len(overridden(defect)) == 1
    assert hasattr(Faux, overridden(defect)[0])
    assert defect.__doc__
    assert defect.breaks


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.__name__)
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
