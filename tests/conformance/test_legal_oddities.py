"""What OpenAI's document allows, however odd it is, no server is accused of: at the most it is advised."""

from zlib import crc32

import pytest
from reference_server import oddities
from reference_server.bench import judged, message_of
from reference_server.mutation import concerned
from reference_server.openai_responses import OpenAIResponses
from reference_server.part import Part, parts_of
from support.examples import ROOT
from support.exhaustive import sampled

from specvino.conformance.verdict import Verdict

ODDITIES = tuple(parts_of(oddities))


# Half of them, by their names so that a new one changes no choice: each is judged by all that can see it.
@pytest.mark.parametrize("oddity", sampled(ODDITIES, *(one for one in ODDITIES if crc32(one.__name__.encode()) % 2)))
def test_nobody_is_accused(oddity: type[Part]) -> None:
    beside = (*oddity.beside, OpenAIResponses)
    only = concerned(oddity, *beside, by="openai")
    assert only
    results = judged(oddity, *beside, by="openai", only=only, prepared=True)
    broken = [result for result in results.values() if result.verdict in (Verdict.FAIL, Verdict.ERROR)]
    accused = {result.rule: message_of(result) for result in broken if result.advice is None}
    assert not accused
    if not oddity.advised:
        assert not {result.rule: message_of(result) for result in broken}


def test_the_page_lists_them() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text("utf-8")
    rows = [f"| {oddity.__doc__} | {'*' if oddity.advised else ''} |" for oddity in ODDITIES]
    assert "\n".join(["| oddity | |", "| --- | --- |", *rows, ""]) in page
