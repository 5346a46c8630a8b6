"""Beam search: the n best of best_of texts, whole at the end."""

import asyncio
from dataclasses import replace
from typing import Any

from support.conversation import answer, ask, completion_tokens, reasons, text, until_text
from support.engines import LONG, Sharing, endless, idle, running

from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.protocol import Engine
from specvino.engine.segments import Finish, Segment, TextDelta, Usage

BEST, SECOND = "Hello! How can I help you today?", "I am a tiny test model."


def likelihood(segments: list[Segment], choice: int, length_penalty: float = 1) -> float:
    """The score of a choice, as beam search defines it."""
    of_choice = [s for s in segments if getattr(s, "choice", None) == choice]
    logprobs: list[float] = [token.logprob for s in of_choice for token in getattr(s, "logprobs", ())]
    score: float = sum(logprobs) / len(logprobs) ** length_penalty
    return score


def test_the_best_texts_are_the_choices(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        request = replace(ask("hello", n=4, best_of=5, max_tokens=30), logprobs=True)
        segments = await answer(engine, request)
        texts = [text(segments, choice) for choice in range(4)]
        assert texts[0] == BEST
        assert len(set(texts)) == 4
        scores = [likelihood(segments, choice) for choice in range(4)]
        assert scores == sorted(scores, reverse=True)
        # Each comes at once, and ends before the next.
        assert [s.choice for s in segments if isinstance(s, Finish)] == [0, 1, 2, 3]
        assert next(s for s in segments if isinstance(s, TextDelta)).text == BEST
        one = await answer(engine, ask("hello", best_of=5, max_tokens=30))
        assert (text(one), reasons(one)) == (BEST, {0: "stop"})
        await idle(engine)

    sharing(tiny_text, test)


def test_what_draws_has_no_effect(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        wild: dict[str, Any] = {"temperature": 2.0, "top_p": 0.1, "top_k": 3, "min_p": 0.5, "seed": 4}
        plain = await answer(engine, ask("hello", n=3, best_of=3))
        assert await answer(engine, ask("hello", n=3, best_of=3, **wild)) == plain

    sharing(tiny_text, test)


def test_the_length_penalty(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        for penalty, best in ((-3.0, "yes"), (3.0, "I am a tiny test model.")):
            request = replace(ask("xyz", n=2, best_of=2, length_penalty=penalty, max_tokens=30), logprobs=True)
            segments = await answer(engine, request)
            assert text(segments) == best
            assert likelihood(segments, 0, penalty) > likelihood(segments, 1, penalty)

    sharing(tiny_text, test)


def test_a_stop_string_cuts_the_texts(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("hello", n=2, best_of=3, stop=(" can", "never")))
        assert [text(segments, choice) for choice in range(2)] == ["Hello! How", SECOND]
        assert reasons(segments) == {0: "stop", 1: "stop"}
        # A pipeline that was told of stop strings would be broken now.
        assert text(await answer(engine, ask("hello"))) == BEST

    sharing(tiny_text, test)


def test_the_token_limit_and_no_end_of_turn(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        cut = await answer(engine, ask("hello", n=2, best_of=2, max_tokens=3))
        assert reasons(cut) == {0: "length", 1: "length"}
        assert completion_tokens(cut) == 6
        endless = await answer(engine, ask("hello", n=2, best_of=3, max_tokens=40, ignore_eos=True))
        assert reasons(endless) == {0: "length", 1: "length"}
        assert completion_tokens(endless) == 80
        assert text(endless).startswith(BEST)

    sharing(tiny_text, test)


def test_searches_and_others_do_not_mix(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        requests = [ask("hello", n=2, best_of=4), ask("emoji"), ask("count", best_of=2), ask("list", n=2)] * 4
        alone = [await answer(engine, request) for request in requests[:4]]
        together = await asyncio.gather(*(answer(engine, request) for request in requests))
        for segments, expected in zip(together, alone * 4, strict=True):
            assert [text(segments, choice) for choice in range(2)] == [text(expected, choice) for choice in range(2)]
        await idle(engine)

    sharing(tiny_text, test)


def test_closing_a_search_frees_its_memory(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        other = engine.generate(ask("hello", max_tokens=500, ignore_eos=True))
        searching = engine.generate(ask("hello", n=3, best_of=10, **LONG))
        await anext(searching)
        await until_text(other)
        while engine.stats().running < 2:  # noqa: ASYNC110 - a step later
            await asyncio.sleep(0.001)
        await searching.aclose()
        assert isinstance([s async for s in other][-1], Usage)
        await idle(engine)

    running(endless(tiny_text), test)


def test_several_choices_without_a_search_are_drawn(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("hello", n=3, temperature=2.0, seed=1, max_tokens=20, ignore_eos=True))
        assert len({text(segments, choice) for choice in range(3)}) == 3

    sharing(tiny_text, test)
