"""What one client asks for doesn't end or hold up what others get."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from support.conversation import answer, ask, ask_all, completion_tokens, text, until_text
from support.engines import LONG, endless, running

from specvino.engine.errors import EngineBusy, EngineUnavailable, PromptError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.request import JsonSchema, TokenPrompt

HELLO = "Hello! How can I help you today?"


def test_a_request_that_finds_the_queue_full_is_refused(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        streams = [engine.generate(ask("hello", **LONG)) for _ in range(2)]
        await until_text(streams[0])
        waiting = asyncio.ensure_future(anext(streams[1]))
        await waiting
        for refused in (answer(engine, ask("hello")), engine.check(ask("hello"))):
            with pytest.raises(EngineBusy, match="too many requests are waiting") as caught:
                await refused
            assert caught.value.retry_after >= 1
        await streams[1].aclose()
        await streams[0].aclose()
        assert text(await answer(engine, ask("hello"))) == HELLO

    running(endless(tiny_text), test, max_sequences=1, max_queue=1)


def test_an_answer_gets_in_between_the_thousand_choices_of_another(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        big = engine.generate(ask("hello", n=1000, **LONG))
        await until_text(big)
        assert text(await answer(engine, ask("hello"))) == HELLO
        assert engine.stats().waiting > 900
        await big.aclose()

    running(endless(tiny_text), test)


def test_prompts_are_scored_in_a_process_of_their_own(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        stream = engine.generate(ask("hello", **LONG))
        await until_text(stream)
        worker = engine.pids["worker"]
        assert "full_logits" not in engine.pids
        await answer(engine, replace(ask("hello", max_tokens=20), echo=True, logprobs=True))
        assert engine.pids["full_logits"] not in (None, worker)
        await until_text(stream)  # it went on
        assert (engine.pids["worker"], engine.stats().restarts) == (worker, 0)
        await stream.aclose()

    running(endless(tiny_text), test)


@pytest.mark.parametrize("constraint", [None, JsonSchema({"type": "string"})])
def test_long_prompts_are_no_long_steps_of_a_draft_model(tiny_text: ModelSource, constraint: JsonSchema | None) -> None:
    question = replace(ask("hello " * 600, max_tokens=20), constraint=constraint)

    async def undrafted(engine: OpenVINOEngine) -> None:
        expected.append(text(await answer(engine, question)))

    async def test(engine: OpenVINOEngine) -> None:
        await answer(engine, ask("hello"))
        assert "undrafted" not in engine.pids
        assert text(await answer(engine, question)) == expected[0]
        assert engine.pids["undrafted"] not in (None, engine.pids["worker"])

    expected: list[str] = []
    running(tiny_text, undrafted)
    running(tiny_text, test, draft_model=tiny_text)


def test_a_long_prompt_without_room_beside_a_draft_model_is_refused(tiny_text: ModelSource) -> None:
    """The worker without the draft model may have a smaller cache, in which one that doesn't fit ends all others."""
    prompt = TokenPrompt((100,) * 1100)

    async def test(engine: OpenVINOEngine) -> None:
        await answer(engine, ask_all(prompt, max_tokens=1))
        assert engine._workers._undrafted_tokens is not None
        engine._workers.bound_undrafted(1120)  # as a larger model with a smaller cache has it
        with pytest.raises(
            EngineUnavailable, match=r"room for 1120 tokens now; this one has 1100 .* and 60 in"
        ) as raised:
            await answer(engine, ask_all(prompt, max_tokens=60))
        assert raised.value.retry_after > 0
        assert completion_tokens(await answer(engine, ask_all(prompt, max_tokens=20, ignore_eos=True))) == 20
        assert completion_tokens(await answer(engine, ask_all(prompt, ignore_eos=True))) == 20

    running(tiny_text, test, draft_model=tiny_text, cache_size=1)


def test_a_cache_of_fixed_size_bounds_what_is_asked(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        assert engine._admission.cache_tokens is not None
        assert engine._admission.cache_tokens > engine.model.context_length == tiny_text.context_length
        search: dict[str, Any] = {"best_of": 4}
        engine._admission.cache_tokens = 500  # one so small would need a model with a large cache
        with pytest.raises(PromptError, match="per beam for 4 beams after this prompt"):
            await answer(engine, ask("hello", max_tokens=400, **search))
        assert text(await answer(engine, ask("hello", max_tokens=20, **search)))
        assert text(await answer(engine, ask("hello", **search)))

    running(tiny_text, test, cache_size=1)
