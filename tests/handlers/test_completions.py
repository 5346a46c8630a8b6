"""Prompts for the engine; chunks obey the document's stream table, and their fold equals an independent one."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.segments import answers, one_by_one

from specvino.conformance.streams.fold import fold_completion
from specvino.conformance.streams.stream_validator import StreamValidator
from specvino.engine.request import TextPrompt, TokenPrompt
from specvino.engine.segments import Finish, Started, TextDelta, TokenIds, Usage
from specvino.generated.models import CreateCompletionRequest
from specvino.generated.streams import STREAMS
from specvino.handlers.completions import CompletionEmitter, fold, request_fields, to_prompts
from specvino.handlers.sampling import sampling
from specvino.server.validation.schema import SchemaCheck


def body(prompt, **fields):
    return CreateCompletionRequest.model_validate({"model": "m", "prompt": prompt, **fields})


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("a", (TextPrompt("a"),)),
        (["a"], (TextPrompt("a"),)),
        (["a", "b"], (TextPrompt("a"), TextPrompt("b"))),
        ([1, 2], (TokenPrompt((1, 2)),)),
        ([[1, 2], [3]], (TokenPrompt((1, 2)), TokenPrompt((3,)))),
    ],
)
def test_forms_of_prompts(prompt, prompts) -> None:
    assert to_prompts(body(prompt)) == prompts


def test_settings() -> None:
    fields = request_fields(body("a", max_tokens=5, temperature=0))
    settings = sampling(fields.body, {})
    assert (settings.max_tokens, settings.temperature, fields.prompt_param) == (5, 0, "prompt")
    assert sampling(body("a", max_tokens=None), {}).max_tokens is None


ANSWERS = answers(st.integers(1, 4), echo=True)


def emit(n, segments, *, token_ids=False):
    emitter = CompletionEmitter("m", n, top_logprobs=n % 2 == 0, token_ids=token_ids)
    return [chunk for segment in segments for chunk in emitter.feed(segment)]


@given(ANSWERS)
def test_chunks_obey_the_stream_table(answer) -> None:
    judge = StreamValidator(STREAMS["completions"])
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


def test_a_chunk_has_the_tokens_up_to_its_own() -> None:
    """Of two prompts with two choices each; the first is one of images."""
    started = Started(3, prompt_token_ids=(None, (7, 8)))
    segments = [TokenIds(2, (1,)), TokenIds(2, (2,)), TextDelta(2, "a"), TokenIds(2, (3,)), Finish(2, "stop")]
    others = [Finish(choice, "stop") for choice in (0, 1, 3)]
    chunks = emit(2, [started, *segments, *others, Usage(3, 3)], token_ids=True)
    second = [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == 2]
    assert [choice["token_ids"] for choice in second] == [[1, 2], [3]]
    assert [choice.get("prompt_token_ids") for choice in second] == [[7, 8], None]
    whole = asyncio.run(fold(one_by_one(chunks)))
    UNARY.require(whole)
    assert [choice["token_ids"] for choice in whole["choices"]] == [[], [], [1, 2, 3], []]
    assert [choice["prompt_token_ids"] for choice in whole["choices"]] == [None, None, [7, 8], [7, 8]]
