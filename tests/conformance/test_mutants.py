"""Every mutant is found by what it is there for; every case, rule and capability finds one.

What each mutant breaks besides is a table that `tox run -e mutants` prints.
"""

import ast
import inspect
import textwrap

import pytest
from reference_server import mutants
from reference_server.bench import judged
from reference_server.mutation import Mutant, faults, meant, name, overridden, proved
from reference_server.part import parts_of

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import all_cases
from specvino.conformance.verdict import Verdict

MUTANTS = tuple(parts_of(mutants))


def test_each_overrides_one_method() -> None:
    for mutant in MUTANTS:
        assert len(overridden(mutant)) == 1, name(mutant)
        assert hasattr(mutant.__base__, overridden(mutant)[0]), name(mutant)
        assert mutant.__doc__, name(mutant)


def test_each_says_what_it_breaks() -> None:
    for mutant in MUTANTS:
        assert mutant.breaks, name(mutant)


def test_no_two_are_the_same() -> None:
    known: dict[str, str] = {}
    for mutant in MUTANTS:
        method = ast.parse(textwrap.dedent(inspect.getsource(getattr(mutant, overridden(mutant)[0]))))
        assert known.setdefault(ast.dump(method), name(mutant)) == name(mutant)


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_breaks_what_it_says(mutant: Mutant) -> None:
    wrong = faults(mutant, proved(mutant))
    assert not wrong, f"{name(mutant)}: {mutant.__doc__}\n" + "\n".join(wrong)


def test_each_case_and_rule_finds_a_mutant() -> None:
    """That a mutant breaks what it is there for is what the test above holds."""
    proved = {rule for mutant in MUTANTS for rule in meant(mutant)}
    cases = {case.rule for case in all_cases()}
    capabilities = {capability.rule for capability in all_capabilities().values()}
    results = judged().items()
    rules = {rule for rule, result in results if "/rules/" in rule and result.verdict is not Verdict.NOT_EXERCISED}
    missing = sorted((cases | capabilities | rules) - proved)
    assert not missing, f"{len(missing)} have no mutant that they find:\n" + "\n".join(missing)
    # A mutant may give cause to judge what the right server's answers don't.
    assert not proved - cases - capabilities - {rule for rule, _ in results if "/rules/" in rule}
