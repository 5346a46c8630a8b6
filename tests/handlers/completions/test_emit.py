"""Chunks obey the document's stream table, and their fold is what an independent fold makes of them."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from support.segments import answers, one_by_one

from specvino.conformance.streams.fold import fold_completion
from specvino.conformance.streams.stream_judge import StreamJudge
from specvino.generated.streams import STREAMS
from specvino.handlers.completions.emit import CompletionEmitter
from specvino.handlers.completions.fold import fold
from specvino.server.validation.schema import SchemaCheck

ANSWERS = answers(st.integers(1, 4), echo=True)


def emit(n, segments):
    emitter = CompletionEmitter("m", top_logprobs=n % 2 == 0)
    return [chunk for segment in segments for chunk in emitter.feed(segment)]


@given(ANSWERS)
def test_chunks_obey_the_stream_table(answer) -> None:
    judge = StreamJudge(STREAMS["completions"])
    violations = [violation for chunk in emit(*answer) for violation in judge.feed(chunk)]
    assert [*violations, *judge.end(terminated=True)] == []


@given(ANSWERS)
def test_every_chunk_and_the_fold_fit_the_document(answer) -> None:
    chunks = emit(*answer)
    for chunk in chunks:
        EVENT.require(chunk)
    UNARY.require(asyncio.run(fold(one_by_one(chunks))))


EVENT, UNARY = SchemaCheck.of_component("CompletionStreamEvent"), SchemaCheck.of_component("Completion")


@given(ANSWERS)
def test_the_fold_is_what_an_independent_one_makes(answer) -> None:
    chunks = emit(*answer)
    assert asyncio.run(fold(one_by_one(chunks))) == fold_completion(chunks)
