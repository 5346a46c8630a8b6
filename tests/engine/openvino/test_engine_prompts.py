"""The kinds of prompts on the real engine, alone and several in one request."""

import asyncio
from dataclasses import replace
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

from specvino.engine.errors import ContextLengthExceeded, PromptError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.protocol import Engine, EngineStats
from specvino.engine.request import Conversation, Prompt, TextPrompt, TokenPrompt
from specvino.engine.segments import Started, Usage

HELLO = "Hello! How can I help you today?"
PARIS = "The capital of France is Paris."


def written(question: str) -> TextPrompt:
    """The tiny model's template by hand."""
    return TextPrompt(f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n")


def tokens(source: ModelSource, prompt: TextPrompt) -> TokenPrompt:
    ids = Tokenizer(source.path).encode(prompt.text).input_ids.data[0].tolist()
    return TokenPrompt(tuple(ids))


def test_a_written_template_is_the_chat(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        for question in ("hello", "emoji", "What is the capital of France?"):
            chat = await answer(engine, ask(question))
            by_hand = written(question)
            assert await answer(engine, ask_all(by_hand)) == chat
            assert await answer(engine, ask_all(tokens(tiny_text, by_hand))) == chat

    sharing(tiny_text, test)


def test_raw_text_is_continued_without_a_template(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        begun = TextPrompt(written("hello").text + "Hello! How")
        segments = await answer(engine, ask_all(begun))
        assert text(segments) == HELLO.removeprefix("Hello! How")
        assert isinstance(segments[0], Started)
        assert segments[0].prompt_tokens == len(tokens(tiny_text, begun).ids)

    sharing(tiny_text, test)


def test_several_prompts_have_n_choices_each(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        prompts: tuple[Prompt, ...] = (
            written("hello"),
            conversation("What is the capital of France?"),
            tokens(tiny_text, written("emoji")),
            TextPrompt("once " * 300),
        )
        alone = [await answer(engine, ask_all(prompt, max_tokens=40)) for prompt in prompts]
        together = await answer(engine, ask_all(*prompts, n=3, max_tokens=40))
        texts = [text(together, index) for index in range(12)]
        assert texts == [text(one) for one in alone for _ in range(3)]
        assert texts[::3][:3] == [HELLO, PARIS, "你好 🎉 café!"]
        assert [reasons(together)[index] for index in range(12)] == [reasons(one)[0] for one in alone for _ in range(3)]
        all_prompts = sum(prompt_tokens(one) for one in alone)
        assert together[0] == Started(all_prompts)
        assert together[-1] == Usage(all_prompts, 3 * sum(completion_tokens(one) for one in alone))
        await idle(engine)

    running(tiny_text, test, max_sequences=5)


def test_each_prompt_has_the_seeds_it_has_alone(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        wild: dict[str, Any] = {"temperature": 2.0, "max_tokens": 30, "ignore_eos": True, "n": 2}
        prompts = (written("hello"), written("count"))
        alone = [await answer(engine, ask_all(prompt, seed=7, **wild)) for prompt in prompts]
        together = await answer(engine, ask_all(*prompts, seed=7, **wild))
        assert [text(together, i) for i in range(4)] == [text(one, i) for one in alone for i in range(2)]
        unseeded = await answer(engine, ask_all(prompts[0], prompts[0], **wild))
        assert len({text(unseeded, i) for i in range(4)}) == 4

    sharing(tiny_text, test)


def test_without_a_limit_each_goes_on_to_its_own_end_of_the_context(tiny_text: ModelSource) -> None:
    async def test(engine: Engine) -> None:
        prompts = [TokenPrompt((5,) * size) for size in (1, 33, 63)]
        segments = await answer(engine, ask_all(*prompts, ignore_eos=True))
        assert segments[-1] == Usage(97, 63 + 31 + 1)
        assert reasons(segments) == dict.fromkeys(range(3), "length")

    running(replace(tiny_text, context_length=64), test)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (TextPrompt(""), PromptError, "The prompt is empty"),
        (TokenPrompt(()), PromptError, "The prompt is empty"),
        (TokenPrompt((5, 1000, 7)), PromptError, "no token 1000: its token ids are 0 to 999"),
        (TokenPrompt((5, -1, 7)), PromptError, "no token -1: its token ids are 0 to 999"),
        (TokenPrompt((2**63,)), PromptError, f"no token {2**63}"),
        (TextPrompt("a " * 200), ContextLengthExceeded, r"context length is 64 tokens, .* tokens in the prompt"),
        (TokenPrompt((5,) * 65), ContextLengthExceeded, "needs 65 tokens in the prompt"),
        (TokenPrompt((5,) * 64), ContextLengthExceeded, "64 tokens in the prompt, 1 in the completion"),
        (Conversation(()), PromptError, "chat template"),
    ],
)
def test_one_wrong_prompt_refuses_them_all(
    tiny_text: ModelSource, wrong: Prompt, error: type[PromptError], words: str
) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        # With a repetition penalty a token that the model lacks breaks the pipeline, if it gets there.
        with pytest.raises(error, match=f"^(?!Prompt).*{words}"):
            await answer(engine, ask_all(wrong, repetition_penalty=1.5))
        with pytest.raises(error, match=f"^Prompt 2: .*{words}"):
            await anext(engine.generate(ask_all(written("hello"), wrong, written("hello"), n=2)))
        assert engine.stats() == EngineStats("ready", 0, 0, 0)
        assert text(await answer(engine, ask("hello"))) == HELLO

    running(replace(tiny_text, context_length=64), test)


def test_every_id_of_the_vocabulary_is_accepted(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        assert engine.model.vocabulary_size == 1000
        everything = TokenPrompt(tuple(range(engine.model.vocabulary_size)))
        segments = await answer(engine, ask_all(everything, max_tokens=3, ignore_eos=True, repetition_penalty=1.5))
        assert segments[-1] == Usage(1000, 3)

    sharing(tiny_text, test)


def test_closing_frees_all_prompts(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        answering = engine.generate(ask_all(written("hello"), tokens(tiny_text, written("count")), n=3, **LONG))
        await until_text(answering)
        # One request leaves a place free.
        while (engine.stats().running, engine.stats().waiting) != (3, 3):  # noqa: ASYNC110 - they are sent one by one
            await asyncio.sleep(0.001)
        await answering.aclose()
        await idle(engine)
        assert text(await answer(engine, ask_all(written("hello")))) == HELLO

    running(endless(tiny_text), test, max_sequences=4)


def test_cancelling_while_prompts_are_prepared(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        task = asyncio.create_task(answer(engine, ask_all(*[written("hello")] * 50, **LONG)))
        while not engine._preprocess.process._busy():  # noqa: ASYNC110 - only tests wait for this
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await idle(engine)
        assert text(await answer(engine, ask("hello"))) == HELLO

    running(endless(tiny_text), test)


def test_the_default_model_takes_raw_prompts(smollm2: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        prompt = TextPrompt("The capital of France is")
        segments = await answer(engine, ask_all(prompt, tokens(smollm2, prompt), max_tokens=5))
        assert text(segments, 0).startswith(" Paris")
        assert text(segments, 1) == text(segments, 0)
        assert engine.model.vocabulary_size == 49_152
        with pytest.raises(ContextLengthExceeded, match="8192 tokens, but the request needs 10000 tokens"):
            await answer(engine, ask_all(TextPrompt("a\n" * 5000)))

    sharing(smollm2, test)
