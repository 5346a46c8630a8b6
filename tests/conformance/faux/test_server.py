"""The correct server passes."""

import pytest
from support.faux import PACE, judged, timed

from specvino.conformance.faux.server import Faux
from specvino.conformance.verdict import Verdict

DIALECTS = ("specvino", "openai")


@pytest.mark.parametrize("by", DIALECTS)
def test_passes(by: str) -> None:
    results = judged(Faux, by=by).values()
    assert [told(each) for each in results if each.verdict is not Verdict.PASS and each.rule not in timed()] == []


@pytest.mark.parametrize("by", DIALECTS)
def test_passes_where_times_are_compared(by: str) -> None:
    results = judged(Faux, by=by, pace=PACE, only=tuple(timed()))
    assert timed() <= results.keys()
    assert [told(each) for each in results.values() if each.verdict is not Verdict.PASS] == []


def told(result) -> str:
    return " ".join([result.verdict, result.rule, result.because, *(each.message for each in result.findings)])
