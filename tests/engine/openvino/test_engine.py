"""The whole real engine on a small model: what is asked and what comes."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openvino_genai import Tokenizer
from support.conversation import (
    answer,
    ask,
    ask_all,
    completion_tokens,
    conversation,
    prompt_tokens,
    reasons,
    text,
    until_text,
)
from support.engines import LONG, Sharing, endless, idle, running
from support.processes import leaving_no_process

from specvino.engine.errors import ContextLengthExceeded, EngineUnavailable, ModelLoadError, PromptError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.protocol import Engine, EngineStats
from specvino.engine.request import Conversation, GenerationRequest
from specvino.engine.segments import Finish, Started, TextDelta, Usage


def test_an_answer_is_started_then_text_then_finish_then_usage(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("hello"))
        assert [type(segment) for segment in segments[:2]] == [Started, TextDelta]
        assert segments[-2] == Finish(0, "stop")
        assert text(segments) == "Hello! How can I help you today?"
        tokenizer = Tokenizer(tiny_text.path)
        # The end-of-turn token counts too.
        tokens = tokenizer.encode(text(segments), add_special_tokens=False).input_ids.shape[1] + 1
        assert isinstance(segments[0], Started)
        assert segments[-1] == Usage(segments[0].prompt_tokens, tokens)

    sharing(tiny_text, test)


def test_the_phases_of_a_request(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        begun = time.monotonic()
        usage = (await answer(engine, ask("count")))[-1]
        took = time.monotonic() - begun
        assert isinstance(usage, Usage)
        assert usage.phases is not None
        assert usage.phases.queue + usage.phases.prefill + usage.phases.decode <= took
        assert usage.phases.queue >= 0
        assert usage.phases.prefill > 0
        assert usage.phases.decode >= 0  # on a busy machine the tokens of a short answer may arrive together
        search = (await answer(engine, ask("count", best_of=3)))[-1]
        assert isinstance(search, Usage)
        assert search.phases is None

    sharing(tiny_text, test)


def test_text_in_many_scripts_in_whole_code_points(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("emoji"))
        assert text(segments) == "你好 🎉 café!"
        assert TextDelta(0, "🎉") in segments

    sharing(tiny_text, test)


def test_the_default_model_knows_paris(smollm2: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("What is the capital of France?", max_tokens=40))
        assert "Paris" in text(segments)

    sharing(smollm2, test)


def test_the_token_limit(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("hello", max_tokens=3))
        assert (reasons(segments), completion_tokens(segments)) == ({0: "length"}, 3)

    sharing(tiny_text, test)


def test_a_stop_string_never_leaks_and_ends_the_counting(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        whole = text(await answer(engine, ask("hello")))
        for stop in ("can I", "o! H", "today?", whole[0]):
            segments = await answer(engine, ask("hello", stop=("never", stop)))
            assert text(segments) == whole[: whole.index(stop)]
            assert reasons(segments) == {0: "stop"}
            counted = await answer(engine, ask("hello", max_tokens=completion_tokens(segments)))
            assert stop in text(counted)
            fewer = completion_tokens(segments) - 1
            assert not fewer or stop not in text(await answer(engine, ask("hello", max_tokens=fewer)))
        segments = await answer(engine, ask("hello", stop=("today?!",)))
        assert text(segments) == whole
        await idle(engine)

    sharing(tiny_text, test)


def test_choices_are_repeatable_by_seed_and_differ(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        wild: dict[str, Any] = {"temperature": 2.0, "max_tokens": 30, "ignore_eos": True}
        first = await answer(engine, ask("hello", n=3, seed=7, **wild))
        again = await answer(engine, ask("hello", n=3, seed=7, **wild))
        texts = [text(first, choice) for choice in range(3)]
        assert texts == [text(again, choice) for choice in range(3)]
        assert len(set(texts)) == 3
        assert reasons(first) == dict.fromkeys(range(3), "length")
        assert completion_tokens(first) == 90
        # Choice i is what seed + i gives alone.
        assert text(await answer(engine, ask("hello", seed=9, **wild))) == texts[2]
        assert text(await answer(engine, ask("hello", **wild))) != text(await answer(engine, ask("hello", **wild)))

    sharing(tiny_text, test)


def test_greedy_choices_are_all_the_same(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        segments = await answer(engine, ask("hello", n=2))
        assert text(segments, 0) == text(segments, 1) == "Hello! How can I help you today?"

    sharing(tiny_text, test)


def test_concurrent_requests_do_not_mix(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        questions = ["hello", "emoji", "count", "What is the capital of France?", "json", "list"]
        alone = {question: text(await answer(engine, ask(question))) for question in questions}
        asked = [questions[i % len(questions)] for i in range(30)]
        answers = await asyncio.gather(*(answer(engine, ask(question)) for question in asked))
        assert [text(segments) for segments in answers] == [alone[question] for question in asked]
        await idle(engine)

    running(tiny_text, test, max_sequences=8)


def test_what_does_not_fit_the_context(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        size = prompt_tokens(await answer(engine, ask("hello", max_tokens=1)))

        async def refused(request: GenerationRequest) -> tuple[int | None, int | None, int]:
            with pytest.raises(ContextLengthExceeded) as refusal:
                await answer(engine, request)
            return refusal.value.prompt_tokens, refusal.value.max_tokens, refusal.value.context_length

        assert await refused(ask("hello", max_tokens=65 - size)) == (size, 65 - size, 64)
        fits = await answer(engine, ask("hello", max_tokens=64 - size, ignore_eos=True))
        assert fits[-1] == Usage(size, 64 - size)
        unlimited = await answer(engine, ask("hello", ignore_eos=True))
        assert unlimited[-1] == Usage(size, 64 - size)
        tokens, asked, context = await refused(ask("hello " * 100))
        assert tokens is not None
        assert tokens > 64
        assert (asked, context) == (None, 64)

    running(replace(tiny_text, context_length=64), test)


def test_a_prompt_that_fills_the_context_leaves_no_room(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        with pytest.raises(ContextLengthExceeded) as refusal:
            await answer(engine, ask("hello"))
        assert refusal.value.prompt_tokens == refusal.value.context_length

    async def measure(engine: Engine) -> None:
        sizes.append(prompt_tokens(await answer(engine, ask("hello", max_tokens=1))))

    sizes: list[int] = []
    running(tiny_text, measure)
    running(replace(tiny_text, context_length=sizes[0]), test)


def test_a_conversation_that_the_template_refuses(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        with pytest.raises(PromptError, match="chat template"):
            await answer(engine, ask_all(Conversation(())))

    sharing(tiny_text, test)


def test_closing_the_answer_frees_its_memory(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        answering = engine.generate(ask("hello", n=2, **LONG))
        await until_text(answering)
        while engine.stats().running < 2:  # noqa: ASYNC110 - the second may be sent a step later
            await asyncio.sleep(0.001)
        assert engine.cache_usage > 0
        await answering.aclose()
        await idle(engine)

    running(endless(tiny_text), test)


def test_cancelling_at_any_stage(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        # Two run, two wait, and the last are cut off at their very start, in the preprocess process.
        tasks = [asyncio.create_task(answer(engine, ask("hello", **LONG))) for _ in range(4)]
        while engine.stats().waiting < 2:  # noqa: ASYNC110 - only tests wait for this
            await asyncio.sleep(0)
        tasks += [asyncio.create_task(answer(engine, ask("hello", **LONG))) for _ in range(2)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        await idle(engine)
        assert text(await answer(engine, ask("hello"))) == "Hello! How can I help you today?"

    running(endless(tiny_text), test, max_sequences=2)


def test_what_it_says_of_the_model(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        assert engine.model.context_length == tiny_text.context_length
        assert engine.model.defaults == tiny_text.defaults
        assert engine.stats() == EngineStats("ready", 0, 0, 0)

    engine = OpenVINOEngine(tiny_text)
    assert engine.stats() == EngineStats("loading", 0, 0, 0)
    with pytest.raises(EngineUnavailable):
        _ = engine.model
    sharing(tiny_text, test)


def test_a_closed_engine_refuses_what_is_under_way_and_what_comes(tiny_text: ModelSource) -> None:
    async def run() -> None:
        engine = OpenVINOEngine(endless(tiny_text))
        await engine.start()
        answering = engine.generate(ask("hello", **LONG))
        await until_text(answering)
        await engine.close()
        with pytest.raises(EngineUnavailable):
            await until_text_ends(answering)
        with pytest.raises(EngineUnavailable):
            await answer(engine, ask("hello"))
        assert engine.stats() == EngineStats("closed", 0, 0, 0)

    async def until_text_ends(answering: Any) -> None:
        async for _ in answering:
            pass

    asyncio.run(run())


def broken(tmp_path: Path, source: ModelSource, name: str, size: int) -> ModelSource:
    """A copy of the model with one file cut off."""
    for file in source.path.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes()[: size if file.name == name else None])
    return replace(source, path=tmp_path)


@pytest.mark.parametrize(
    ("name", "size"), [("openvino_model.bin", 1000), ("openvino_model.xml", 1000), ("openvino_tokenizer.xml", 0)]
)
def test_a_model_that_cannot_be_loaded(
    tiny_text: ModelSource, tmp_path: Path, name: str, size: int, capfd: pytest.CaptureFixture[str]
) -> None:
    async def run() -> None:
        engine = OpenVINOEngine(broken(tmp_path, tiny_text, name, size))
        with pytest.raises(ModelLoadError) as failure:
            await engine.start()
        reason = str(failure.value)
        assert reason
        assert "\n" not in reason
        assert ".cpp" not in reason
        assert engine.stats().state == "closed"

    with leaving_no_process():
        asyncio.run(run())
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_damaged_gguf_file_that_crashes_its_reader(smollm2: ModelSource, tmp_path: Path) -> None:
    file = tmp_path / "cut.gguf"
    file.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + (10**6).to_bytes(8, "little") * 2)

    async def run() -> None:
        engine = OpenVINOEngine(ModelSource(file, 2048, {}, gguf=True))
        with pytest.raises(ModelLoadError) as failure:
            await engine.start()
        assert "\n" not in str(failure.value)

    asyncio.run(run())


def test_a_conversation_of_several_turns(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        request = ask_all(conversation("hello", "Hello!", "What is the capital of France?"))
        assert text(await answer(engine, request)) == "The capital of France is Paris."

    sharing(tiny_text, test)
