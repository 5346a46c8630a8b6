"""Every mutant is found, and nothing else; every case, rule and capability finds one."""

import ast
import inspect
import textwrap

import pytest
from reference_server.bench import judged
from reference_server.mutants import all_mutants
from reference_server.mutation import Mutant, broken, failed, meant, name, overridden, tried

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import all_cases
from specvino.conformance.verdict import Verdict

MUTANTS = tuple(all_mutants())


def test_each_overrides_one_method() -> None:
    for mutant in MUTANTS:
        assert len(overridden(mutant)) == 1, name(mutant)
        assert hasattr(mutant.__base__, overridden(mutant)[0]), name(mutant)
        assert mutant.__doc__, name(mutant)


def test_each_says_what_it_breaks() -> None:
    assert broken().keys() == {name(mutant) for mutant in MUTANTS}, (
        "python -m reference_server writes mutants/broken.yaml"
    )
    for mutant in MUTANTS:
        assert mutant.breaks, name(mutant)
        assert meant(mutant) <= broken()[name(mutant)], name(mutant)


def test_no_two_are_the_same() -> None:
    known: dict[str, str] = {}
    for mutant in MUTANTS:
        method = ast.parse(textwrap.dedent(inspect.getsource(getattr(mutant, overridden(mutant)[0]))))
        assert known.setdefault(ast.dump(method), name(mutant)) == name(mutant)


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_breaks_exactly_what_it_says(mutant: Mutant) -> None:
    found = tried(mutant)
    said = broken().get(name(mutant), frozenset[str]())
    wrong = [f"{rule} passes" for rule in sorted(said - failed(found))]
    for rule in sorted(failed(found)):
        if found[rule].verdict is Verdict.ERROR or rule not in said:
            wrong.append(f"{rule} is {found[rule].verdict}, which it doesn't say: {found[rule].said}")
    assert not wrong, f"{name(mutant)} in mutants/broken.yaml: {mutant.__doc__}\n" + "\n".join(wrong)


def test_each_case_and_rule_finds_a_mutant() -> None:
    """That a mutant breaks what it is there for is what the test above holds."""
    proved = {rule for mutant in MUTANTS for rule in meant(mutant)}
    cases = {case.rule for case in all_cases()}
    capabilities = {each.rule for each in all_capabilities().values()}
    results = judged().items()
    rules = {rule for rule, found in results if "/rules/" in rule and found.verdict is not Verdict.NOT_EXERCISED}
    missing = sorted((cases | capabilities | rules) - proved)
    assert not missing, f"{len(missing)} have no mutant that they find:\n" + "\n".join(missing)
    # A mutant may give cause to judge what the right server's answers don't.
    assert not proved - cases - capabilities - {rule for rule, _ in results if "/rules/" in rule}
