"""Prompts that are too long, or are made to cost much: the cost is counted in calls and characters, not in time."""

from typing import Any, cast

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openvino_genai import Tokenizer
from support.conversation import conversation

from specvino.engine.chat_template.special_token_escaping import TooManyMarks, marker
from specvino.engine.models import ModelSource
from specvino.engine.openvino.messages.preprocess import (
    Cut,
    Preprocess,
    Preprocessed,
    PromptTooLong,
    Tokenize,
)
from specvino.engine.openvino.preprocess.__main__ import answer
from specvino.engine.openvino.preprocess.length import batches, beginnings, endings
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor

CONTEXT = 8192


class Counting:
    """A tokenizer that counts what it is asked."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.calls = self.characters = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def encode(self, texts: list[str], add_special_tokens: bool) -> Any:
        self.calls += 1
        self.characters += sum(map(len, texts))
        return self._tokenizer.encode(texts, add_special_tokens=add_special_tokens)


@pytest.fixture
def counting(tokenizer: Tokenizer) -> Counting:
    return Counting(tokenizer)


@pytest.fixture
def bounded(counting: Counting) -> Preprocessor:
    preprocessor = Preprocessor(cast("Tokenizer", counting), context_length=CONTEXT)
    counting.calls = counting.characters = 0
    return preprocessor


@pytest.mark.parametrize("text", ["<|im_end|>a" * 20_000, "<|im_end|>" * 100_000, "one two three " * 500_000])
def test_what_is_seen_to_be_too_long_is_not_encoded(bounded: Preprocessor, counting: Counting, text: str) -> None:
    refused = answer(bounded, Preprocess(1, conversation(text)))
    assert isinstance(refused, PromptTooLong)
    assert (refused.count > CONTEXT, refused.limit, refused.more) == (True, CONTEXT, True)
    assert counting.calls == 0


@pytest.mark.parametrize("prompt", [True, False])
def test_what_is_too_long_is_encoded_as_far_as_it_takes(
    bounded: Preprocessor, counting: Counting, prompt: bool
) -> None:
    text = "a\nb, " * 25_000
    asked = Tokenize(1, text, add_special_tokens=True, prompt=True) if prompt else Preprocess(1, conversation(text))
    refused = answer(bounded, asked)
    assert isinstance(refused, PromptTooLong)
    assert refused.count > CONTEXT
    # GenAI's tokenizers from GGUF drop tokens silently: there the first beginning is counted in halves.
    assert counting.characters <= 8 * CONTEXT * (5 if bounded.limit else 1)


def test_many_control_tokens_are_a_few_calls(bounded: Preprocessor, counting: Counting) -> None:
    result = answer(bounded, Preprocess(1, conversation("".join(f"<|im_end|>{i} " for i in range(1500)))))
    assert isinstance(result, Preprocessed)
    assert counting.calls < 10  # it was one for each piece


def test_a_text_that_fits_is_whole_however_many_characters_it_has(bounded: Preprocessor, tokenizer: Tokenizer) -> None:
    text = " " * 12 * CONTEXT  # in tokens of several spaces
    fits = Tokenize(1, text, add_special_tokens=True, prompt=True)
    expected = tokenizer.encode(text).input_ids.data[0]
    assert len(expected) < CONTEXT
    assert answer(bounded, fits) == Preprocessed(1, numpy.array(expected, numpy.int64).tobytes())


@given(st.lists(st.sampled_from(["<|im_end|>", "</s>", "a", " the", "\n", "🎉", "  ", "x" * 50]), max_size=30))
def test_pieces_encoded_together_are_what_they_are_alone(preprocessor: Preprocessor, pieces: list[str]) -> None:
    together = preprocessor._encode_all(pieces or [""])
    assert [ids.tolist() for ids in together] == [preprocessor._encode(piece).tolist() for piece in pieces or [""]]


@given(st.lists(st.text("ab", min_size=1, max_size=50), min_size=1), st.integers(1, 10))
def test_beginnings_double(pieces: list[str], context: int) -> None:
    *parts, (last, whole) = beginnings(pieces, context)
    text = "".join(pieces)
    assert ("".join(last), whole) == (text, True)
    assert ["".join(part) for part, _ in parts] == [text[: 8 * context << i] for i in range(len(parts))]
    assert not any(whole for _, whole in parts)
    assert len(text) <= 8 * context << len(parts)


def test_without_a_context_there_is_one_beginning() -> None:
    assert list(beginnings(["a" * 1000], None)) == [(["a" * 1000], True)]


def test_batches_hold_little_padding() -> None:
    pieces = ["a" * 300_000, *["b"] * 10, "c" * 2_000_000, "d"]
    padded = list(batches(pieces))
    assert [piece for batch in padded for piece in batch] == pieces
    assert all(len(batch) == 1 or len(batch) * max(map(len, batch)) <= 1 << 20 for batch in padded)


def test_the_control_tokens_of_all_texts_are_counted() -> None:
    mark = marker(["<s>"], "\ue000", 3)
    assert mark("<s><s>").count("\ue000") >= 2
    assert mark("<s>")
    assert mark("harmless") == "harmless"
    with pytest.raises(TooManyMarks):
        mark("<s>")


def test_without_a_bound_all_are_marked() -> None:
    assert "<s>" not in marker(["<s>"], "\ue000")("<s>" * 5000)


def test_of_a_vision_model_too(tiny_vision: ModelSource) -> None:
    preprocessor = Preprocessor(Tokenizer(tiny_vision.path), context_length=64)
    refused = answer(preprocessor, Preprocess(1, conversation("<|im_end|>" * 65), as_text=True))
    assert isinstance(refused, PromptTooLong)


@given(st.lists(st.text("ab", min_size=1, max_size=50), min_size=1), st.integers(1, 10))
def test_endings_are_beginnings_from_behind(pieces: list[str], tokens: int) -> None:
    *parts, (last, whole) = endings(pieces, tokens)
    text = "".join(pieces)
    assert ("".join(last), whole) == (text, True)
    assert all(text.endswith("".join(part)) and not whole for part, whole in parts)
    sizes = [len("".join(part)) for part, _ in beginnings(pieces, tokens)]
    assert [len("".join(part)) for part, _ in (*parts, (last, whole))] == sizes


# Less than the tokenizers of GGUF files take: the whole is compared.
LONG = "one two three four, " * 1_500


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("prompt", [True, False])
def test_of_a_long_prompt_no_more_is_encoded_than_is_kept(
    bounded: Preprocessor, counting: Counting, tokenizer: Tokenizer, prompt: bool, first: bool
) -> None:
    cut = Cut(1000, first)
    asked = (
        Tokenize(1, LONG, add_special_tokens=True, prompt=True, cut=cut)
        if prompt
        else (Preprocess(1, conversation(LONG), cut=cut))
    )
    result = answer(bounded, asked)
    assert isinstance(result, Preprocessed)
    assert counting.characters < len(LONG) / 2
    kept = numpy.frombuffer(result.token_ids, numpy.int64)
    template = tokenizer.apply_chat_template([{"role": "user", "content": LONG}], add_generation_prompt=True)
    whole = tokenizer.encode(LONG if prompt else template, add_special_tokens=False).input_ids.data[0]
    assert kept.tolist() == (whole[:1000] if first else whole[-1000:]).tolist()


@pytest.mark.parametrize("text", ["<|im_end|>a" * 20_000, "<|im_end|>" * 20_000])
def test_of_many_pieces_only_those_that_are_kept_are_encoded(
    bounded: Preprocessor, counting: Counting, text: str
) -> None:
    result = answer(bounded, Preprocess(1, conversation(text), cut=Cut(50)))
    assert isinstance(result, Preprocessed)
    assert len(result.token_ids) == 50 * 8
    assert counting.characters < 2000


@pytest.mark.parametrize("tokens", [4, 5, 100])
def test_what_is_short_enough_stays_whole(bounded: Preprocessor, tokens: int) -> None:
    fits = Tokenize(1, "one two", add_special_tokens=True, prompt=True)
    whole = answer(bounded, fits)
    assert isinstance(whole, Preprocessed)
    tokens = max(tokens, len(whole.token_ids) // 8)
    assert answer(bounded, Tokenize(1, "one two", add_special_tokens=True, prompt=True, cut=Cut(tokens))) == whole
