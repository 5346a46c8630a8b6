"""Every defect is found, and nothing else; every case and rule finds one."""

import inspect

import pytest
from support.faux import failed, judged, matches, of_defect

from specvino.conformance.capabilities import CAPABILITIES
from specvino.conformance.case import all_cases
from specvino.conformance.faux.defects import all_defects
from specvino.conformance.faux.server import Faux
from specvino.conformance.verdict import Verdict

DEFECTS = tuple(all_defects())


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.__name__)
def test_overrides_one_method_and_says_what_it_breaks(defect: type[Faux]) -> None:
    overridden = [name for name, value in vars(defect).items() if inspect.isfunction(value)]
    assert len(overridden) == 1
    assert hasattr(Faux, overridden[0])
    assert defect.__doc__
    assert defect.breaks


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda each: each.__name__)
def test_is_found(defect: type[Faux]) -> None:
    results = of_defect(defect)
    broken = failed(results)
    wrong = [f"{rule} passes" for rule in sorted(unbroken(defect, broken))]
    for rule in sorted(broken):
        result = results[rule]
        if result.verdict is Verdict.ERROR or not matches(rule, defect.breaks | defect.also):
            said = "; ".join(each.message for each in result.findings) or result.because
            wrong.append(f"{rule} is {result.verdict}, which it doesn't say: {said}")
    assert not wrong, f"{defect.__name__}: {defect.__doc__}\n" + "\n".join(wrong)


def unbroken(defect: type[Faux], broken: set[str]) -> set[str]:
    """What the defect says it breaks, but doesn't."""
    return {pattern for pattern in defect.breaks if not any(matches(rule, {pattern}) for rule in broken)}


def test_each_case_and_rule_finds_a_defect() -> None:
    proved = {rule for defect in DEFECTS for rule in failed(of_defect(defect)) if matches(rule, defect.breaks)}
    cases = {case.rule for case in all_cases()}
    capabilities = {name.replace(".", "/capabilities/", 1).replace("_", "-") for name in CAPABILITIES}
    rules = {rule for rule in judged(Faux) if "/rules/" in rule}
    missing = sorted((cases | capabilities | rules) - proved)
    assert not missing, f"{len(missing)} have no defect that they find:\n" + "\n".join(missing)
