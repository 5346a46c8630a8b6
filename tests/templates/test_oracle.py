"""Calls are read, forced and put back as the templates write them."""

from functools import cache

import pytest
from support.speaker import Speaker

from templates.corpus import corpus
from templates.exceptions import KNOWN
from templates.oracle import Oracle
from templates.turns import CASES


@cache
def oracle_of(name: str) -> Oracle:
    return Oracle(corpus()[name])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", corpus())
def test_a_call_is_what_the_template_writes(name: str, case: str, speaker: Speaker) -> None:
    oracle = oracle_of(name)
    if not oracle.writes_calls:
        assert not KNOWN.failing(name, case)
        pytest.skip("the template writes no calls")
    failures = oracle.failures(case, speaker.says)
    assert failures.keys() == KNOWN.failing(name, case), failures
