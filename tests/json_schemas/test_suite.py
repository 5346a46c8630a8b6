"""Grammars of the schemas of the JSON-Schema-Test-Suite: what is enforced in full, and that it is."""

import pytest
from samples.judge import judge
from samples.outcomes import outcome
from samples.spellings import spellings

from json_schemas.suite import Group, groups, known
from specvino.engine.grammar._from_schema.keywords import IMPLIED_TYPE
from specvino.engine.grammar._json_schema import types_of_value

OUTCOMES = {group: outcome(group.schema) for group in groups()}
LOWERED = [group for group, outcome in OUTCOMES.items() if outcome.grammar is not None]
ENFORCED = [group for group, outcome in OUTCOMES.items() if outcome.enforced]


def name(group: Group) -> str:
    return f"{group.file}: {group.name}"


@pytest.mark.parametrize("group", groups(), ids=name)
def test_what_becomes_of_a_schema_is_known(group: Group) -> None:
    expected = known().get(group.file, {}).get(group.name, "enforced")
    assert str(OUTCOMES[group]) == expected, "`python -m json_schemas --write` writes what is known"


@pytest.mark.parametrize("group", LOWERED, ids=name)
def test_what_a_grammar_allows_satisfies_the_schema(group: Group) -> None:
    is_valid = judge(group.schema, OUTCOMES[group].free)
    assert [text for text in OUTCOMES[group].texts(30) if not is_valid(text)] == []


@pytest.mark.parametrize("group", ENFORCED, ids=name)
def test_what_the_suite_rejects_no_grammar_allows(group: Group) -> None:
    matches = OUTCOMES[group].matcher.matches
    invalid = [value for value, valid in group.instances if not valid]
    assert [value for value in invalid if any(map(matches, spellings(value)))] == []


@pytest.mark.parametrize("group", groups(), ids=name)
def test_what_the_suite_accepts_is_not_called_impossible(group: Group) -> None:
    if OUTCOMES[group].refusal.startswith("nothing can satisfy it"):
        # Keywords of one type imply it.
        implied = {IMPLIED_TYPE[keyword] for keyword in group.schema if keyword in IMPLIED_TYPE} if group.schema else ()
        valid = [value for value, is_valid in group.instances if is_valid]
        assert [value for value in valid if not implied or types_of_value(value) & {*implied}] == []


def test_groups_have_names_of_their_own() -> None:
    assert len({(group.file, group.name) for group in groups()}) == len(groups())
    assert known().keys() <= {group.file for group in groups()}
