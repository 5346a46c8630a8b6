"""Requests that need the scores of all tokens: held against the model itself, and against the pipeline's answers."""

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy
import pytest
from openvino_genai import Tokenizer
from support.conversation import answer, ask, ask_all, completion_tokens, conversation, reasons, text, until_text
from support.engines import Sharing, endless, running
from support.scores import Scores

from specvino.engine.errors import EngineRestarted, EngineUnavailable, PromptError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.protocol import Engine
from specvino.engine.request import (
    GenerationRequest,
    JsonSchema,
    TextPrompt,
    ThinkingBudget,
    TokenPrompt,
    Tool,
    Truncation,
)
from specvino.engine.segments import (
    Finish,
    PromptLogprobs,
    PromptText,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    TokenIds,
    TokenLogprob,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)

CLOSE = 0.001

# Here the pipeline computes as exactly as the full-logits process, so that near ties fall alike.
EXACT = PipelineOptions(plugin_config={"KV_CACHE_PRECISION": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0})


def with_top(request: GenerationRequest, count: int = 3) -> GenerationRequest:
    return replace(request, logprobs=True, top_logprobs=count)


def tokens(segments: Sequence[Segment], choice: int = 0) -> list[TokenLogprob]:
    kinds = TextDelta | ReasoningDelta | Finish
    return [token for s in segments if isinstance(s, kinds) and s.choice == choice for token in s.logprobs]


def made(segments: Sequence[Segment]) -> list[int]:
    return [id for s in segments if isinstance(s, TokenIds) for id in s.ids]


@pytest.mark.parametrize("sampling", [{}, {"temperature": 1.5, "seed": 3}, {"presence_penalty": 2.0}])
def test_the_likeliest_tokens_are_the_model_s_own(
    tiny_text: ModelSource, sampling: dict[str, Any], sharing: Sharing
) -> None:
    scores = Scores(tiny_text)
    names = Tokenizer(tiny_text.path).get_vocab()

    async def test(engine: Engine) -> None:
        request = replace(with_top(ask("hello", max_tokens=12, **sampling), 5), token_ids=True)
        segments = await answer(engine, request)
        prompt = await engine.render(conversation("hello"), 1000)
        ids = made(segments)
        assert len(ids) == len(tokens(segments)) == completion_tokens(segments) >= 10
        rows = scores.of([*prompt, *ids])[len(prompt) - 1 :]
        for token, id, row in zip(tokens(segments), ids, rows, strict=False):
            assert token.logprob == pytest.approx(row[id], abs=CLOSE)
            assert [candidate.logprob for candidate in token.top] == pytest.approx(numpy.sort(row)[::-1][:5], abs=CLOSE)
            for candidate in token.top:
                assert candidate.logprob == pytest.approx(row[names[candidate.bytes]], abs=CLOSE)
                assert candidate.chosen == (names[candidate.bytes] == id)

    sharing(tiny_text, test)


def test_the_default_model_s_texts_are_the_pipeline_s(smollm2: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        questions: dict[str, dict[str, Any]] = {
            "What is the capital of France?": {},
            "Count from one to ten.": {"repetition_penalty": 1.2},
            "Write a haiku about rain.": {"frequency_penalty": 0.5, "presence_penalty": 0.5},
        }
        for prompt, sampling in questions.items():
            request = ask(prompt, max_tokens=24, **sampling)
            assert text(await answer(engine, with_top(request))) == text(await answer(engine, request))

    running(smollm2, test, options=EXACT)


def test_bias_makes_and_forbids_tokens(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        [[first]] = await engine.tokenize(["H"], add_special_tokens=False)
        unbiased = await answer(engine, ask("hello", max_tokens=8))
        without = await answer(engine, ask("hello", max_tokens=8, logit_bias=((first, -100.0),)))
        only = await answer(engine, ask("hello", max_tokens=8, logit_bias=((first, 100.0),)))
        assert text(unbiased).startswith("H")
        assert "H" not in text(without)
        assert text(only) == "H" * 8

    sharing(tiny_text, test)


def test_only_allowed_tokens_are_made_and_no_bad_ones(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        [[first, second]] = await engine.tokenize(["He"], add_special_tokens=False)
        only = await answer(engine, ask("hello", max_tokens=8, allowed_token_ids=(second,)))
        assert text(only) == "e" * 8
        without = await answer(engine, ask("hello", max_tokens=8, bad_words_token_ids=(first,)))
        assert text(without)
        assert "H" not in text(without)
        none = await answer(
            engine, ask("hello", max_tokens=8, allowed_token_ids=(first,), bad_words_token_ids=(first,))
        )
        assert (text(none), reasons(none), completion_tokens(none)) == ("", {0: "stop"}, 0)

    sharing(tiny_text, test)


def test_bad_words_are_not_in_the_text(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        plain = text(await answer(engine, ask("hello", max_tokens=12)))
        assert plain.startswith("Hello! How can")
        for words in (("How",), (" can", "Hello"), ("Hello", "o!")):
            output = text(await answer(engine, ask("hello", max_tokens=12, bad_words=words)))
            assert output
            assert not [word for word in words if word.strip() in output]
        for without_effect in (("zebra",), ("",), (" \n ",)):
            assert text(await answer(engine, ask("hello", max_tokens=12, bad_words=without_effect))) == plain

    sharing(tiny_text, test)


def test_named_tokens_stand_behind_the_chosen_one(tiny_text: ModelSource, sharing: Sharing) -> None:
    scores = Scores(tiny_text)

    async def test(engine: Engine) -> None:
        [[upper, lower]] = await engine.tokenize(["He"], add_special_tokens=False)
        request = replace(ask("hello", max_tokens=6), logprobs=True, logprob_token_ids=(lower, upper), token_ids=True)
        segments = await answer(engine, request)
        prompt = await engine.render(conversation("hello"), 1000)
        ids = made(segments)
        rows = scores.of([*prompt, *ids])[len(prompt) - 1 :]
        for token, id, row in zip(tokens(segments), ids, rows, strict=False):
            wanted = list(dict.fromkeys([id, lower, upper]))
            assert [candidate.logprob for candidate in token.top] == pytest.approx(
                [row[id] for id in wanted], abs=CLOSE
            )
            assert [candidate.chosen for candidate in token.top] == [True] + [False] * (len(wanted) - 1)

    sharing(tiny_text, test)


@pytest.mark.parametrize("count", [0, 3])
def test_a_prompt_s_logprobs_are_the_model_s_own(tiny_text: ModelSource, sharing: Sharing, count: int) -> None:
    scores = Scores(tiny_text)

    async def test(engine: Engine) -> None:
        request = replace(ask("hello", max_tokens=2, n=2, temperature=1), prompt_logprobs=count)
        segments = await answer(engine, request)
        prompt = await engine.render(conversation("hello"), 1000)
        of_prompts = [segment for segment in segments if isinstance(segment, PromptLogprobs)]
        assert {segment.choice for segment in of_prompts} == {0, 1}
        assert of_prompts[0].positions == of_prompts[1].positions
        assert not tokens(segments)
        assert of_prompts[0].positions[0] is None
        places = [candidates for candidates in of_prompts[0].positions if candidates is not None]
        assert [candidates[0].id for candidates in places] == prompt[1:]
        for candidates, row in zip(places, scores.of(prompt), strict=False):
            order = numpy.argsort(-row, kind="stable")
            assert {token.id for token in candidates} == {candidates[0].id, *order[:count].tolist()}
            for token in candidates:
                assert token.logprob == pytest.approx(row[token.id], abs=CLOSE)
                assert order[token.rank - 1] == token.id
                assert token.text == (await engine.token_bytes([token.id]))[0].decode(errors="replace")

    sharing(tiny_text, test)


NO_BUDGET = replace(ask("think", max_tokens=30), thinking_budget=ThinkingBudget(0))


@pytest.mark.parametrize(
    ("request_", "lengths"),
    [
        (NO_BUDGET, None),
        (replace(ask("hello", max_tokens=30), thinking_budget=ThinkingBudget(3)), None),
        (ask_all(TokenPrompt((40, 41, 42, 43)), TokenPrompt((40, 41, 42)), n=2, max_tokens=3), [4, 4, 3, 3]),
        (replace(ask_all(TokenPrompt((40, 41)), max_tokens=0), echo=True), [2]),
        (ask_all(TokenPrompt((40,)), max_tokens=2), [1]),
        (replace(ask("count " * 500, max_tokens=2), truncation=Truncation(30)), [30]),
    ],
    ids=["no budget for reasoning", "a budget", "several", "no answer", "one token", "a cut prompt"],
)
def test_every_prompt_has_its_logprobs_once_for_each_choice(
    tiny_text: ModelSource, sharing: Sharing, request_: GenerationRequest, lengths: list[int] | None
) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, replace(request_, prompt_logprobs=1))
        of_choices = {segment.choice: segment.positions for segment in segments if isinstance(segment, PromptLogprobs)}
        assert len(of_choices) == sum(isinstance(segment, PromptLogprobs) for segment in segments)
        assert of_choices.keys() == reasons(segments).keys()
        [started] = [segment for segment in segments if isinstance(segment, Started)]
        assert [len(of_choices[choice]) for choice in sorted(of_choices)] == (lengths or [started.prompt_tokens])
        for places in of_choices.values():
            assert [candidates is None for candidates in places] == [True] + [False] * (len(places) - 1)

    sharing(tiny_text, test)


def test_an_echo_and_the_prompt_s_logprobs_stand_beside_each_other(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        request = replace(ask_all(TextPrompt("1, 2, 3"), max_tokens=2), echo=True, prompt_logprobs=4)
        scored, text, *_ = (await answer(engine, request))[1:]
        assert isinstance(scored, PromptLogprobs)
        assert isinstance(text, PromptText)
        assert (text.text, text.logprobs) == ("1, 2, 3", ())
        _, text, *_ = (await answer(engine, with_top(request, 2)))[1:]
        assert isinstance(text, PromptText)
        assert {len(token.top) for token in text.logprobs[1:]} == {2}

    sharing(tiny_text, test)


def test_choices_stop_strings_and_limits_are_as_ever(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        several = await answer(engine, with_top(ask("hello", n=3, temperature=2.5, seed=1, max_tokens=20)))
        texts = [text(several, choice) for choice in range(3)]
        assert len(set(texts)) == 3
        again = await answer(engine, with_top(ask("hello", n=3, temperature=2.5, seed=1, max_tokens=20)))
        assert [text(again, choice) for choice in range(3)] == texts
        stopped = await answer(engine, with_top(ask("hello", stop=("can I",))))
        assert text(stopped) == "Hello! How "
        assert reasons(stopped) == {0: "stop"}
        assert "".join(token.text for token in tokens(stopped)) == "Hello! How "
        cut = await answer(engine, with_top(ask("hello", max_tokens=3)))
        assert (reasons(cut), completion_tokens(cut)) == ({0: "length"}, 3)
        endless = await answer(engine, with_top(ask("hello", max_tokens=60, ignore_eos=True)))
        assert (reasons(endless), completion_tokens(endless)) == ({0: "length"}, 60)
        least = await answer(engine, with_top(ask("hello", max_tokens=60, min_tokens=50)))
        assert completion_tokens(least) >= 50

    sharing(tiny_text, test)


def test_a_prompt_s_tokens_have_theirs_too(tiny_text: ModelSource, sharing: Sharing) -> None:
    scores = Scores(tiny_text)

    async def test(engine: Engine) -> None:
        prompt = "1, 2, 3, 4" * 80  # more than a step takes
        [ids] = await engine.tokenize([prompt], add_special_tokens=True)
        assert len(ids) > 2 * PipelineOptions().max_num_batched_tokens
        request = replace(with_top(ask_all(TextPrompt(prompt), max_tokens=2)), echo=True)
        segments = await answer(engine, request)
        [echoed] = [segment for segment in segments if isinstance(segment, PromptText)]
        assert echoed.text == prompt
        rows = scores.of(ids)
        assert echoed.logprobs[0].logprob is None
        assert echoed.logprobs[0].top == ()
        logprobs = [token.logprob for token in echoed.logprobs[1:]]
        assert logprobs == pytest.approx([row[id] for row, id in zip(rows, ids[1:], strict=False)], abs=CLOSE)
        for token, row in zip(echoed.logprobs[1:], rows, strict=False):
            assert [candidate.logprob for candidate in token.top] == pytest.approx(numpy.sort(row)[::-1][:3], abs=CLOSE)
        alone = await answer(engine, replace(request, sampling=replace(request.sampling, max_tokens=0)))
        assert completion_tokens(alone) == 0
        assert [segment.logprobs for segment in alone if isinstance(segment, PromptText)] == [echoed.logprobs]

    sharing(tiny_text, test)


def test_beside_what_only_the_pipeline_can_do_there_is_the_chosen_token(
    tiny_text: ModelSource, sharing: Sharing
) -> None:
    async def test(engine: Engine) -> None:
        held = replace(with_top(ask("json")), constraint=JsonSchema({"type": "object", "properties": {}}))
        generated = tokens(await answer(engine, held))
        assert generated
        assert not any(token.top for token in generated)

    sharing(tiny_text, test)


WEATHER = Tool("get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
CALLING = replace(conversation("What is the weather in Paris?"), tools=(WEATHER,))
OPEN = replace(conversation("hello", "Hello! How"), continue_final_message=True)

REQUESTS = {
    "a call": ask_all(CALLING, max_tokens=80),
    "reasoning": ask("think", max_tokens=80),
    "a budget for it": replace(ask("think", max_tokens=80), thinking_budget=ThinkingBudget(3, " Enough.")),
    "no budget for it": replace(ask("think", max_tokens=80), thinking_budget=ThinkingBudget(0)),
    "several choices": ask("hello", n=3),
    "several prompts": ask_all(TextPrompt("1, 2, 3"), TextPrompt("4, 5"), n=2, max_tokens=9),
    "tokens": ask_all(TokenPrompt((40, 41, 42)), max_tokens=9),
    "a repeated prompt": replace(ask_all(TextPrompt("1, 2, 3"), max_tokens=9), echo=True),
    "a continued turn": ask_all(OPEN, max_tokens=30),
    "stop strings": ask("count", stop=("9", ", 4"), max_tokens=60),
    "a stop string that is kept": ask("count", stop=(", 4",), include_stop_str_in_output=True, max_tokens=60),
    "a token that stops": ask("hello", stop_token_ids=frozenset([40, 41, 42, 43, 44, 45, 46])),
    "special tokens": ask("hello", skip_special_tokens=False),
    "a limit": ask("hello", max_tokens=5),
    "no end": ask("hello", max_tokens=40, ignore_eos=True),
    "a least length": ask("hello", max_tokens=60, min_tokens=45),
    "penalties": ask("count", presence_penalty=1.5, frequency_penalty=0.5, repetition_penalty=1.1, max_tokens=40),
    "a long prompt, cut": replace(ask("count " * 5000, max_tokens=9), truncation=Truncation(300)),
    "characters of several tokens": ask("emoji", max_tokens=60),
    "token ids": replace(ask("hello"), token_ids=True),
}


def without_logprobs(segments: Sequence[Segment]) -> list[Segment]:
    """The segments choice by choice; pieces of a text that follow each other are one."""
    plain: list[Segment] = []
    for _, run in groupby(sorted(segments, key=_choice), key=lambda segment: (_choice(segment), type(segment))):
        group = list(run)
        if isinstance(group[0], TextDelta | ReasoningDelta):
            text = "".join(segment.text for segment in group if isinstance(segment, TextDelta | ReasoningDelta))
            group = [replace(group[0], text=text)]
        plain += [
            replace(segment, logprobs=())
            if isinstance(segment, TextDelta | ReasoningDelta | ToolCallArguments | ToolCallStart | PromptText | Finish)
            else segment
            for segment in group
        ]
    return plain


def _choice(segment: Segment) -> int:
    """The first segment is no choice's, and so is the last one."""
    if isinstance(segment, Usage):
        return 999
    return -1 if isinstance(segment, Started) else segment.choice


def test_answers_are_the_pipeline_s_in_all_else(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        for name, request in REQUESTS.items():
            plain = without_logprobs(await answer(engine, request))
            scored = without_logprobs(await answer(engine, with_top(request)))
            assert scored == plain, name
            assert len(plain) > 2, name

    running(tiny_text, test, options=EXACT)


def test_it_is_started_when_it_is_needed_and_replaced_when_it_dies(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        assert isinstance(engine, OpenVINOEngine)
        assert "full_logits" not in engine.pids
        long = engine.generate(with_top(ask("hello", max_tokens=500, ignore_eos=True)))
        await until_text(long)
        pid = engine.pids["full_logits"]
        assert pid is not None
        other = asyncio.create_task(answer(engine, ask("hello")))
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(EngineRestarted):
            await answer_rest(long)
        assert text(await other) == "Hello! How can I help you today?"  # others don't notice
        received: list[Segment] = []
        while not received:
            with contextlib.suppress(EngineUnavailable):
                received = await answer(engine, with_top(ask("hello")))
            await asyncio.sleep(0.05)
        assert text(received) == "Hello! How can I help you today?"
        assert engine.pids["full_logits"] != pid

    running(endless(tiny_text), test)


def test_a_long_prompt_beside_short_ones_takes_no_more_memory_than_both(smollm2: ModelSource) -> None:
    """A state for all of them, padded to the longest, had 13 times 800 tokens: 2.4 GB."""

    def memory(engine: OpenVINOEngine, what: str) -> int:
        match = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{engine.pids['full_logits']}/status").read_text("ascii"))
        assert match is not None
        return int(match[1]) // 1024

    async def test(engine: Engine) -> None:
        assert isinstance(engine, OpenVINOEngine)
        bias: dict[str, Any] = {"max_tokens": 12, "ignore_eos": True, "logit_bias": ((100, 1.0),)}
        await answer(engine, ask("hello", **bias | {"max_tokens": 1}))
        before = memory(engine, "VmHWM")
        long = ask_all(TokenPrompt(tuple(range(1000, 1800))), **bias)
        await asyncio.gather(*(answer(engine, request) for request in (long, *[ask("hello", **bias)] * 12)))
        assert memory(engine, "VmHWM") - before < 700  # 300 as it is
        await asyncio.sleep(0)
        assert memory(engine, "VmRSS") - before < 350  # what a step computes with, not what ended sequences had

    running(smollm2, test)


def test_a_prompt_that_the_memory_has_no_room_for_is_refused(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        assert isinstance(engine, OpenVINOEngine)
        await answer(engine, with_top(ask("hello", max_tokens=1)))
        engine._workers.bound_full_logits(100)  # as a larger model with a smaller cache has it
        with pytest.raises(PromptError, match=r"room for 100 tokens .* this one has 60 tokens in the prompt and 60 in"):
            await answer(engine, with_top(ask_all(TokenPrompt((100,) * 60), max_tokens=60)))
        segments = await answer(engine, with_top(ask_all(TokenPrompt((100,) * 60), ignore_eos=True)))
        assert completion_tokens(segments) == 40

    running(tiny_text, test)


def test_who_leaves_is_not_waited_for(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        request = with_top(ask("hello", n=16, max_tokens=1900, ignore_eos=True))
        left = engine.generate(request)
        await until_text(left)
        await left.aclose()
        while engine.stats().running or engine.stats().waiting:  # noqa: ASYNC110 - only tests wait for this
            await asyncio.sleep(0.05)
        assert engine.generated_tokens < 16 * 1900

    running(endless(tiny_text), test)


async def answer_rest(segments: Any) -> None:
    async for _ in segments:
        pass
