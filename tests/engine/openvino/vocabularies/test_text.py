"""Free texts on the vocabularies of large models: streaming, stop strings, logprobs."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from models.vocabularies.family import Family
from openvino_genai import Tokenizer
from support.conversation import ask, ask_all, reasons, text

from specvino.engine.request import GenerationRequest, TextPrompt, TokenPrompt
from specvino.engine.segments import Finish, PromptText, Segment, TextDelta, TokenLogprob, Usage

Answered = Callable[[GenerationRequest], list[Segment]]

# Random weights choose among all tokens alike: parts of characters, control tokens and what has no text too.
WILD = ask("Hello", max_tokens=200, temperature=1.5, seed=3, ignore_eos=True)


def tokens(segments: list[Segment]) -> list[TokenLogprob]:
    return [token for s in segments if isinstance(s, TextDelta | Finish) for token in s.logprobs]


@pytest.fixture(scope="package")
def wild(answered: Answered) -> list[Segment]:
    """The answer to WILD, made once for a family: it takes a second of CPU time."""
    return answered(WILD)


def test_an_answer_is_streamed(answered: Answered, wild: list[Segment]) -> None:
    assert sum(isinstance(segment, TextDelta) for segment in wild) > 20
    assert reasons(wild) == {0: "length"}
    assert isinstance(wild[-1], Usage)
    assert wild[-1].completion_tokens == 200
    assert text(answered(WILD)) == text(wild)


def test_a_token_for_each_of_the_answer(answered: Answered, wild: list[Segment]) -> None:
    segments = answered(replace(WILD, logprobs=True))
    found = tokens(segments)
    assert len(found) == 200
    assert "".join(token.text for token in found) == text(segments) == text(wild)
    assert all(token.logprob is not None and token.logprob <= 0 for token in found)
    # The bytes make the text, too.
    read = b"".join(token.text.encode() if token.bytes is None else token.bytes for token in found)
    assert read.decode(errors="replace") == text(segments)


@pytest.mark.parametrize("length", [1, 3])
def test_a_stop_string_cuts(answered: Answered, wild: list[Segment], length: int) -> None:
    whole = text(wild)
    start = len(whole) // 2
    stop = whole[start : start + length]
    cut = answered(replace(WILD, sampling=replace(WILD.sampling, stop=(stop,))))
    assert text(cut) == whole[: whole.index(stop)]
    assert reasons(cut) == {0: "stop"}


def test_every_token_of_a_prompt_comes_back(tokenizer: Tokenizer, answered: Answered) -> None:
    written = "naïve 你好 🎉👨‍👩‍👧 don't\n\n  12345"
    ids = tuple(tokenizer.encode(written, add_special_tokens=False).input_ids.data[0].tolist())
    for prompt in (TextPrompt(written), TokenPrompt(ids)):
        request = replace(ask_all(prompt, max_tokens=1), echo=True, logprobs=True)
        [echoed] = [segment for segment in answered(request) if isinstance(segment, PromptText)]
        assert echoed.text == written
        assert "".join(token.text for token in echoed.logprobs) == written
        assert len(echoed.logprobs) - len(ids) in (0, 1)  # with the token that begins a text


def test_an_answer_goes_on_from_a_raw_prompt(family: Family, tokenizer: Tokenizer, answered: Answered) -> None:
    prompt = tuple(tokenizer.encode("Hello").input_ids.data[0].tolist())
    segments = answered(replace(ask_all(TokenPrompt(prompt), max_tokens=8, temperature=1, seed=1), logprobs=True))
    # The model's own end of the turn is as good as any.
    read = b"".join(token.text.encode() if token.bytes is None else token.bytes for token in tokens(segments))
    assert text(segments) == read.decode(errors="replace")


def test_every_id_of_the_vocabulary_is_accepted(family: Family, answered: Answered) -> None:
    highest = max([*family.added.values(), family.model_size - 1000])
    request = ask_all(TokenPrompt((0, highest)), max_tokens=3, ignore_eos=True, repetition_penalty=1.5)
    assert answered(request)[-1] == Usage(2, 3)
