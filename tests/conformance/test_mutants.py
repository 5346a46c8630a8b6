"""Every mutant is found by what it is there for; every case, rule and capability finds one.

What each mutant breaks besides is a table that `tox run -e mutants` prints.
"""

import ast
import inspect
import textwrap
from statistics import median

import pytest
from reference_server import mutants
from reference_server.bench import judged
from reference_server.mutation import Mutant, faults, meant, name, overridden, proved, reported
from reference_server.part import parts_of
from support.examples import ROOT
from support.exhaustive import sampled

from specvino.conformance.cases.capability import all_capabilities
from specvino.conformance.cases.case import all_cases
from specvino.conformance.verdict import Verdict

MUTANTS = tuple(parts_of(mutants))

# Pairs of mutants with faults that look alike, of different parts of the server.
APART = (
    ("rules_shapes.ModelsFail", "completions.FailsOnBestOf"),
    ("logprobs.NoLogprobs", "rules_shapes.ModelsWithoutOwner"),
    ("stopping.OldLimitOnly", "stopping.NeverStops"),
    ("streaming.LosesLastPiece", "rules_answers.MiscountsTotal"),
    ("tools.CallsOrText", "responses.RefusesUnknown"),
    ("chat.ChatsInMilliseconds", "rules_shapes.DeletedOtherwise"),
    ("completions.AnyModel", "stopping.ForgetsStops"),
    ("rules_shapes.ErrorsOfAnotherForm", "completions.NoLimit"),
    ("chat.LastTurnOnly", "responses.FirstPartOnly"),
    ("connections.MixesAnswers", "stopping.ForgetsStops"),
    ("transport.RefusesInStreams", "tokenize.TokenizesAnything"),
    ("tools.CallsThoughNone", "rules_shapes.ModelsWithoutOwner"),
    ("structured_output.CutIsStop", "tokenize.CountsUp"),
    ("tokenize.CountsUp", "completions.AnyModel"),
    ("rules_shapes.MarksEvents", "chat.LastTurnOnly"),
    ("rules_shapes.WithoutReason", "responses.FirstPartOnly"),
)


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


# It takes half a minute, and BuffersStreams breaks the same rules.
LEFT = "connections.HoldsBackStreams"


@pytest.mark.parametrize("mutant", sampled(MUTANTS, *(one for one in MUTANTS if name(one) != LEFT)), ids=name)
def test_breaks_what_it_says(mutant: Mutant) -> None:
    results = proved(mutant)
    wrong = faults(mutant, results)
    assert not wrong, f"{name(mutant)}: {mutant.__doc__}\n" + "\n".join(wrong)
    titles = [fault.title for fault in reported(results)]
    assert 1 <= len(titles) <= mutant.faults, (
        f"{name(mutant)} has one fault: {mutant.__doc__}\n"
        f"A report tells {len(titles)}, at most {mutant.faults} are expected:\n" + "\n".join(titles)
    )


def test_a_fault_is_told_once() -> None:
    """That a mutant has no more faults than it says is what the test above holds."""
    assert not [name(mutant) for mutant in MUTANTS if mutant.faults > 3]
    assert median(mutant.faults for mutant in MUTANTS) == 1


def test_the_page_says_how_often() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text("utf-8")
    one, two, three = (sum(mutant.faults == number for mutant in MUTANTS) for number in (1, 2, 3))
    servers = f"on {len(MUTANTS)} servers with one fault each, a report has"
    assert f"{servers} one fault on {one}, two on {two}, three on {three}." in " ".join(page.split())


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_faults_are_told_as_two(one: str, other: str) -> None:
    """On a server with both, no fault has what both break."""
    pair = [next(mutant for mutant in MUTANTS if name(mutant) == wanted) for wanted in (one, other)]
    rules = [meant(mutant) for mutant in pair]
    all_faults = reported(proved(*pair))
    told, titles = [{line.rule for line in fault.lines} for fault in all_faults], [fault.title for fault in all_faults]
    assert all(any(fault & own for fault in told) for own in rules), titles
    assert not [fault for fault in told if fault & (rules[0] - rules[1]) and fault & (rules[1] - rules[0])], titles


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
