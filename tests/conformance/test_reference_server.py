"""The correct server passes."""

import math
import time
from types import SimpleNamespace

import pytest
from reference_server.bench import BY_BOUNDS, BY_REQUESTS, BY_TIME, judged, message_of
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part

from specvino.conformance.http import client
from specvino.conformance.verdict import Verdict
from specvino.document.loading import whole
from specvino.document.pointers import at

PARTS: dict[str, tuple[type[Part], ...]] = {"specvino": (), "openai": (OpenAIResponses,)}
"""What it has to be like: OpenAI leaves out what is always null here."""


@pytest.mark.parametrize("by", PARTS)
def test_passes(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tokens take no time by the judge's clock, either, which a busy machine would let run on: here it stands."""
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=lambda: 0.0, time=time.time))
    results = judged(*PARTS[by], by=by)
    unexercised = {rule for rule, result in results.items() if result.verdict is Verdict.NOT_EXERCISED}
    assert not {rule for rule in unexercised if "/rules/" not in rule}
    exercised = {rule: result for rule, result in results.items() if rule not in unexercised}
    assert not [(rule, message_of(result)) for rule, result in exercised.items() if result.verdict is not Verdict.PASS]
    for result in results.values():
        assert result.spec, result.rule
        at(whole(), result.spec)


@pytest.mark.parametrize("by", PARTS)
def test_passes_where_tokens_take_time(by: str) -> None:
    rules = BY_TIME | BY_REQUESTS
    results = judged(*PARTS[by], by=by, pace=math.inf, only=rules)
    assert results.keys() >= {rule for rule in rules if by == "specvino" or "message" not in rule}
    assert not [
        (rule, message_of(result))
        for rule, result in results.items()
        if result.verdict is not Verdict.PASS and (result.verdict is not Verdict.NOT_EXERCISED or "/rules/" not in rule)
    ]


def test_refuses_all_that_is_beyond_a_bound() -> None:
    results = judged(only=BY_BOUNDS)
    assert {rule: results[rule].verdict for rule in BY_BOUNDS} == dict.fromkeys(BY_BOUNDS, Verdict.PASS)
