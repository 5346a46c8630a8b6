"""Tokens' probabilities and repeated prompts, held against the model itself."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from openvino_genai import Tokenizer
from support.conversation import answer, ask, ask_all, completion_tokens, conversation, text
from support.engines import Sharing, running
from support.scores import Scores

from specvino.engine.models import ModelSource
from specvino.engine.openvino.client import detokenizers
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.protocol import Engine
from specvino.engine.request import Conversation, GenerationRequest, JsonSchema, TextPrompt, TokenPrompt
from specvino.engine.segments import Finish, PromptText, Segment, TextDelta, TokenLogprob, Usage

# The engine keeps its cache in 8 bits.
CLOSE = 0.15


@pytest.fixture(scope="module")
def scores(tiny_text: ModelSource) -> Scores:
    return Scores(tiny_text)


@pytest.fixture(scope="module")
def preprocessor(tiny_text: ModelSource) -> Preprocessor:
    return Preprocessor(Tokenizer(tiny_text.path))


@pytest.fixture(scope="module")
def ids(preprocessor: Preprocessor) -> dict[bytes, int]:
    """Token ids by their bytes, special ones included."""
    return dict(preprocessor._vocabulary)


def with_logprobs(request: GenerationRequest, **changes: Any) -> GenerationRequest:
    return replace(request, logprobs=True, **changes)


def tokens(segments: list[Segment], choice: int = 0) -> list[TokenLogprob]:
    """Those that a choice generated."""
    return [token for s in segments if isinstance(s, TextDelta | Finish) and s.choice == choice for token in s.logprobs]


def prompt_of(segments: list[Segment], choice: int = 0) -> PromptText:
    [prompt] = [s for s in segments if isinstance(s, PromptText) and s.choice == choice]
    return prompt


def ids_of(preprocessor: Preprocessor, request: GenerationRequest) -> list[int]:
    (prompt,) = request.prompts
    assert isinstance(prompt, Conversation)
    ids: list[int] = numpy.frombuffer(preprocessor.preprocess(prompt), numpy.int64).tolist()
    return ids


WILD: dict[str, Any] = {"temperature": 2.0, "ignore_eos": True, "max_tokens": 25, "skip_special_tokens": False}


@pytest.mark.parametrize(
    "sampling",
    [
        {"max_tokens": 25},
        {**WILD, "seed": 3},
        {**WILD, "seed": 4, "top_k": 5},
        {**WILD, "seed": 5, "top_p": 0.9, "min_p": 0.01},
        {**WILD, "temperature": 0, "repetition_penalty": 2.0, "presence_penalty": 1.0},
    ],
)
def test_they_are_the_model_s_own(
    tiny_text: ModelSource,
    scores: Scores,
    preprocessor: Preprocessor,
    ids: dict[bytes, int],
    sampling: dict[str, Any],
    sharing: Sharing,
) -> None:
    async def test(engine: Engine) -> None:
        request = with_logprobs(ask("hello", **{"skip_special_tokens": False, **sampling}))
        segments = await answer(engine, request)
        answered = tokens(segments)
        assert "".join(token.text for token in answered) == text(segments)
        assert completion_tokens(segments) == len(answered) > 15
        generated = [ids[token.bytes or b""] for token in answered]
        expected = scores.after(ids_of(preprocessor, request), generated)
        assert [token.logprob for token in answered] == pytest.approx(expected, abs=CLOSE)

    sharing(tiny_text, test)


def test_a_greedy_token_is_the_likeliest(
    tiny_text: ModelSource, scores: Scores, preprocessor: Preprocessor, sharing: Sharing
) -> None:
    async def test(engine: Engine) -> None:
        request = with_logprobs(ask("count"))
        most_likely = scores.of(ids_of(preprocessor, request))[-1].max()
        assert tokens(await answer(engine, request))[0].logprob == pytest.approx(most_likely, abs=CLOSE)

    sharing(tiny_text, test)


def test_a_character_of_several_tokens(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, with_logprobs(ask("emoji")))
        generated = tokens(segments)
        assert [token.text for token in generated[:3]] == ["", "", "你"]
        assert b"".join(token.bytes or b"" for token in generated) == "你好 🎉 café!".encode()
        assert generated[-1] == TokenLogprob("", b"", generated[-1].logprob)  # the end of the turn
        assert TextDelta(0, "你", tuple(generated[:3])) in segments

    sharing(tiny_text, test)


@pytest.mark.parametrize("keep", [False, True])
def test_none_is_lost_at_a_stop_string(tiny_text: ModelSource, keep: bool, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        request = ask("hello", stop=("can I",), include_stop_str_in_output=keep)
        segments = await answer(engine, with_logprobs(request))
        assert text(segments) == "Hello! How can I"[: 16 if keep else 11]
        generated = tokens(segments)
        assert "".join(token.text for token in generated) == text(segments)
        assert b"".join(token.bytes or b"" for token in generated) == b"Hello! How can I"
        assert completion_tokens(segments) == len(generated)

    sharing(tiny_text, test)


def test_a_repeated_prompt_has_the_same_ones_every_time(
    tiny_text: ModelSource, scores: Scores, sharing: Sharing
) -> None:
    # The prefix cache would hide them: 300 tokens are several of its blocks and more than one step computes.
    ids = numpy.random.default_rng(0).integers(0, 990, 300).tolist()

    async def test(engine: OpenVINOEngine) -> None:
        for max_tokens in (3, 0, 3, 0):
            request = ask_all(TokenPrompt(tuple(ids)), max_tokens=max_tokens)
            await answer(engine, request)  # it is in the cache now
            segments = await answer(engine, with_logprobs(request, echo=True))
            logprobs = [token.logprob for token in prompt_of(segments).logprobs]
            assert logprobs[0] is None
            assert logprobs[1:] == pytest.approx(scores.after(ids[:1], ids[1:]), abs=1.0)
            assert numpy.mean(numpy.abs(numpy.array(logprobs[1:]) - scores.after(ids[:1], ids[1:]))) < CLOSE
            assert segments[-1] == Usage(300, max_tokens)
            assert len(tokens(segments)) == max_tokens

    sharing(tiny_text, test)


def test_a_prompt_comes_back_before_each_choice(tiny_text: ModelSource, sharing: Sharing) -> None:
    prompt = "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"

    async def test(engine: Engine) -> None:
        for logprobs in (False, True):
            request = replace(ask_all(TextPrompt(prompt), TextPrompt("x"), n=2), echo=True, logprobs=logprobs)
            segments = await answer(engine, request)
            assert [prompt_of(segments, choice).text for choice in range(4)] == [prompt, prompt, "x", "x"]
            assert text(segments) == "Hello! How can I help you today?"
            for choice in range(4):
                of_choice = [s for s in segments if getattr(s, "choice", None) == choice]
                assert isinstance(of_choice[0], PromptText)
                assert isinstance(of_choice[-1], Finish)
                joined = "".join(token.text for token in of_choice[0].logprobs)
                assert joined == (of_choice[0].text if logprobs else "")

    sharing(tiny_text, test)


@pytest.mark.parametrize("constraint", [None, JsonSchema({"type": "string"})])
def test_beside_what_only_the_pipeline_can_do_a_prompt_is_not_scored(
    tiny_text: ModelSource, constraint: JsonSchema | None, sharing: Sharing
) -> None:
    async def test(engine: Engine) -> None:
        for limit in (4, 0):  # an answer without tokens needs no pipeline
            request = ask_all(TextPrompt("1, 2, 3"), max_tokens=limit, best_of=1 if constraint else 2)
            segments = await answer(engine, with_logprobs(request, echo=True, constraint=constraint))
            first, *others = prompt_of(segments).logprobs
            assert "".join(token.text for token in (first, *others)) == "1, 2, 3"
            assert first.logprob is None
            assert {token.logprob is None for token in others} == {
                limit > 0
            }  # what follows no prompt needs no pipeline
            assert len(tokens(segments)) == completion_tokens(segments) == limit

    sharing(tiny_text, test)


def test_a_prompt_alone(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        ids = [*(await engine.tokenize(["café 🎉"], add_special_tokens=False))[0]]
        request = replace(ask_all(TokenPrompt(tuple(ids)), max_tokens=0, n=2), echo=True)
        segments = await answer(engine, request)
        assert segments[1:] == [
            PromptText(0, "café 🎉"),
            Finish(0, "length"),
            PromptText(1, "café 🎉"),
            Finish(1, "length"),
            Usage(len(ids), 0),
        ]

    sharing(tiny_text, test)


def test_a_prompt_alone_may_fill_the_context(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        request = replace(ask_all(TokenPrompt((5,) * 64), max_tokens=0), echo=True)
        assert (await answer(engine, request))[-1] == Usage(64, 0)

    running(replace(tiny_text, context_length=64), test)


def test_min_p_leaves_only_what_is_likely_enough(
    tiny_text: ModelSource,
    scores: Scores,
    preprocessor: Preprocessor,
    sharing: Sharing,
) -> None:
    # The most likely tokens of a hot model are still far ahead: at this share only they are left.
    async def test(engine: Engine) -> None:
        greedy = text(await answer(engine, ask("hello")))
        hot: dict[str, Any] = {"temperature": 2.0, "max_tokens": 40}
        for seed in range(5):
            assert text(await answer(engine, ask("hello", min_p=0.5, seed=seed, **hot))) == greedy
        free = {text(await answer(engine, ask("hello", seed=seed, **hot))) for seed in range(5)}
        assert free != {greedy}
        # Every token is at least so many times as likely as the most likely one at its place, at that temperature.
        request = with_logprobs(ask("hello", min_p=0.02, seed=1, **WILD))
        answered = tokens(await answer(engine, request))
        prompt = ids_of(preprocessor, request)
        generated = [preprocessor._vocabulary[token.bytes or b""] for token in answered]
        rows = scores.of([*prompt, *generated])[len(prompt) - 1 :]
        for token, row in zip(generated, rows, strict=False):
            assert (row[token] - row.max()) / WILD["temperature"] >= math.log(0.02) - CLOSE

    sharing(tiny_text, test)


def test_control_tokens_are_shown_if_wanted(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("hello", skip_special_tokens=False))
        assert text(segments) == "Hello! How can I help you today?<|im_end|>"
        request = with_logprobs(ask("hello", skip_special_tokens=False))
        last = tokens(await answer(engine, request))[-1]
        assert (last.text, last.bytes) == ("<|im_end|>", b"<|im_end|>")

    sharing(tiny_text, test)


def test_the_default_model(smollm2: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        request = with_logprobs(ask_all(TextPrompt("The capital of France is"), max_tokens=8), echo=True)
        first, again = await answer(engine, request), await answer(engine, request)
        assert first == again
        assert [token.text for token in prompt_of(first).logprobs] == ["The", " capital", " of", " France", " is"]
        assert "".join(token.text for token in tokens(first)) == text(first)
        assert "Paris" in text(first)
        assert all(token.logprob is not None and token.logprob <= 0 for token in tokens(first))

    sharing(smollm2, test)


def test_a_vocabulary_without_a_byte_table(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        engine._choices.detokenizer = detokenizers.load(Path(tiny_text.path))
        segments = await answer(engine, with_logprobs(ask("emoji")))
        generated = tokens(segments)
        assert "".join(token.text for token in generated) == text(segments) == "你好 🎉 café!"
        assert {token.bytes for token in generated} == {None}
        assert [token.text for token in generated[:3]] == ["", "", "你"]

    sharing(tiny_text, test)


def test_conversations_are_echoed_as_the_template_made_them(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        request = replace(ask_all(conversation("hello"), max_tokens=1, skip_special_tokens=False), echo=True)
        assert prompt_of(await answer(engine, request)).text.endswith("<|im_start|>assistant\n")

    sharing(tiny_text, test)
