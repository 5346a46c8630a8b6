"""Calls are read, forced and put back as the templates write them."""

import pytest
from support.speaker import Speaker

from templates.corpus import corpus
from templates.exceptions import KNOWN
from templates.oracle import Oracle
from templates.turns import CASES


@pytest.fixture(scope="module")
def oracles(speaker: Speaker) -> dict[str, Oracle]:
    return {name: Oracle(text, speaker.says) for name, text in corpus().items()}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", corpus())
def test_a_call_is_what_the_template_writes(name: str, case: str, oracles: dict[str, Oracle]) -> None:
    oracle = oracles[name]
    if not oracle.writes_calls:
        assert not KNOWN.failing(name, case)
        pytest.skip("the template writes no calls")
    failures = oracle.failures(case)
    assert failures.keys() == KNOWN.failing(name, case), failures
