"""Schemas of combined keywords, as Hypothesis draws them.

`EXAMPLES=5000` draws that many of each kind at random; without it they are few, and always the same.
"""

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from samples.combinations import COMBINATIONS, FINITE
from samples.judge import judge
from samples.outcomes import outcome
from samples.spellings import spellings

EXAMPLES = os.environ.get("EXAMPLES")

drawn = settings(
    deadline=None,
    derandomize=EXAMPLES is None,
    max_examples=int(EXAMPLES or 100),
    suppress_health_check=[HealthCheck.too_slow],  # it goes by the clock, and the machine may be busy
)


@pytest.mark.parametrize("kind", COMBINATIONS)
@drawn
@given(data=st.data())
def test_what_a_grammar_allows_satisfies_the_schema(kind: str, data: st.DataObject) -> None:
    schema: Any = data.draw(COMBINATIONS[kind])
    lowered = outcome(schema)
    if lowered.grammar is not None:
        is_valid = judge(schema, lowered.free)
        assert [text for text in lowered.texts(15) if not is_valid(text)] == []


@pytest.mark.parametrize("kind", FINITE)
@drawn
@given(data=st.data())
def test_a_grammar_allows_all_values_that_satisfy_the_schema(kind: str, data: st.DataObject) -> None:
    strategy, values = FINITE[kind]
    schema: Any = data.draw(strategy)
    lowered = outcome(schema)
    is_valid = judge(schema)
    valid = [value for value in values if any(map(is_valid, spellings(value)))]
    if lowered.grammar is None:
        assert not valid or not lowered.refusal.startswith("nothing can satisfy it"), lowered.refusal
        return
    matches = lowered.matcher.matches
    assert [value for value in valid if not any(map(matches, spellings(value)))] == []
    if lowered.enforced:
        invalid = [value for value in values if value not in valid]
        assert [value for value in invalid if any(map(matches, spellings(value)))] == []
