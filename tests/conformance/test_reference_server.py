"""The correct server passes."""

import pytest
from reference_server.bench import PACE, judged, told
from reference_server.server import ReferenceServer

from specvino.conformance.verdict import Verdict
from specvino.document.loading import whole
from specvino.document.pointers import at

BY_TIME = {
    "transport/connections/stream-is-left",
    "transport/connections/answer-is-left",
    "transport/connections/stream-flows",
    "transport/connections/models-beside-a-stream",
}
"""Cases that compare times, which tell nothing of a server whose tokens take none."""


@pytest.mark.parametrize("by", ["specvino", "openai"])
def test_passes(by: str) -> None:
    results = judged(ReferenceServer, by=by)
    assert {rule for rule, result in results.items() if result.verdict is Verdict.SKIP} == BY_TIME
    assert not [(rule, told(result)) for rule, result in results.items() if result.verdict not in ("pass", "skip")]
    for result in results.values():
        assert result.spec, result.rule
        at(whole(), result.spec)


@pytest.mark.parametrize("by", ["specvino", "openai"])
def test_passes_where_times_are_compared(by: str) -> None:
    results = judged(ReferenceServer, by=by, pace=PACE, only=BY_TIME)
    assert results.keys() >= BY_TIME
    assert not [(rule, told(result)) for rule, result in results.items() if result.verdict is not Verdict.PASS]
