"""Chunks obey the document's stream table, and their fold is what an independent fold makes of them."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from specvino.conformance.fold import fold_chat
from specvino.conformance.streams import StreamJudge
from specvino.engine.segments import Finish, Started, TextDelta, Usage
from specvino.generated.streams import STREAMS
from specvino.handlers.chat.emit import Emitter
from specvino.handlers.chat.fold import fold
from specvino.server.gate.schema import Judge


@st.composite
def answers(draw):
    """The segments of a whole answer: choices in any interleaving, each with any texts and its own finish."""
    n = draw(st.integers(1, 4))
    left = {choice: draw(st.lists(st.text(min_size=1, max_size=5), max_size=4)) for choice in range(n)}
    segments = [Started(draw(st.integers(1, 100)))]
    while left:
        choice = draw(st.sampled_from(sorted(left)))
        if left[choice]:
            segments.append(TextDelta(choice, left[choice].pop(0)))
        else:
            segments.append(Finish(choice, draw(st.sampled_from(["stop", "length"]))))
            del left[choice]
    return n, [*segments, Usage(segments[0].prompt_tokens, draw(st.integers(0, 100)))]


def emit(n, segments):
    emitter = Emitter("m", n)
    return [chunk for segment in segments for chunk in emitter.feed(segment)]


async def _aiter(items):
    for item in items:
        yield item


@given(answers())
def test_chunks_obey_the_stream_table(answer):
    judge = StreamJudge(STREAMS["chat"])
    violations = [violation for chunk in emit(*answer) for violation in judge.feed(chunk)]
    assert [*violations, *judge.end(terminated=True)] == []


@given(answers())
def test_every_chunk_and_the_fold_fit_the_document(answer):
    chunks = emit(*answer)
    for chunk in chunks:
        EVENT.require(chunk)
    UNARY.require(asyncio.run(fold(_aiter(chunks))))


EVENT, UNARY = Judge.of_component("ChatCompletionStreamEvent"), Judge.of_component("ChatCompletion")


@given(answers())
def test_the_fold_is_what_an_independent_one_makes(answer):
    chunks = emit(*answer)
    assert asyncio.run(fold(_aiter(chunks))) == fold_chat(chunks)


@given(answers())
def test_no_delta_says_nothing(answer):
    for chunk in emit(*answer):
        for choice in chunk["choices"]:
            assert choice["delta"] or choice["finish_reason"]
