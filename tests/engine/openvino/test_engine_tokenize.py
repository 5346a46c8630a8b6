"""Tokenizing by the real engine."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from openvino_genai import Tokenizer
from support.conversation import answer, ask_all, conversation, until_text
from support.engines import LONG, Sharing, endless, running
from support.qwen3_gguf import write

from specvino.engine.errors import ContextLengthExceeded, EngineRestarted, EngineUnavailable, PromptError
from specvino.engine.models import ModelSource
from specvino.engine.models.gguf_file import open_gguf
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.protocol import Engine
from specvino.engine.request import TextPrompt, TokenPrompt
from specvino.engine.segments import Started

TEXTS = ["hello", "", "naïve café 你好 🎉👨‍👩‍👧🇫🇷 \u0301", "<|im_start|>user\nhi<|im_end|>", "\0\ue000", "  \n\n "]


def test_ids_are_the_texts(source: ModelSource, tokenizer: Tokenizer, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        tokenized = await engine.tokenize(TEXTS, add_special_tokens=True)
        assert [tokenizer.decode(ids, skip_special_tokens=False) for ids in tokenized] == TEXTS
        assert tokenized[1] == []
        assert tokenizer.get_eos_token_id() in tokenized[3]
        assert await engine.tokenize([], add_special_tokens=True) == []

    sharing(source, test)


def test_it_is_what_prompts_are_made_of(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        for prompt in (TEXTS[2], TEXTS[3]):
            [ids] = await engine.tokenize([prompt], add_special_tokens=True)
            as_text = await answer(engine, ask_all(TextPrompt(prompt), max_tokens=5))
            assert as_text[0] == Started(len(ids))
            assert await answer(engine, ask_all(TokenPrompt(tuple(ids)), max_tokens=5)) == as_text

    sharing(tiny_text, test)


def test_a_conversation_is_what_prompts_are_made_of(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        ids = await engine.render(conversation("hello"), 1000)
        assert (await answer(engine, ask_all(conversation("hello"), max_tokens=5)))[0] == Started(len(ids))

    sharing(tiny_text, test)


def test_a_conversation_of_any_length_is_tokenized(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        long = conversation("hello " * 20_000)
        ids = await engine.render(long, 200_000)
        assert len(ids) > engine.model.context_length
        assert (await engine.detokenize(ids)).count("hello ") == 20_000
        with pytest.raises(PromptError, match=r"has 1200\d\d characters; at most 100000 are tokenized"):
            await engine.render(long, 100_000)
        with pytest.raises(ContextLengthExceeded):
            await answer(engine, ask_all(long, max_tokens=5))

    sharing(tiny_text, test)


def test_tokens_are_texts_and_bytes(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        for text in TEXTS:
            [ids] = await engine.tokenize([text], add_special_tokens=False)
            assert await engine.detokenize(ids) == text
            assert b"".join(await engine.token_bytes(ids)).decode() == text
            [plain] = await engine.tokenize([text], add_special_tokens=False, parse_special=False)
            assert await engine.detokenize(plain, skip_special_tokens=True) == text
        [ids] = await engine.tokenize([TEXTS[3]], add_special_tokens=False)
        assert await engine.detokenize(ids, skip_special_tokens=True) == "user\nhi"
        for read in (engine.detokenize, engine.token_bytes):
            with pytest.raises(PromptError, match="The model has no token 1000"):
                await read([1000])

    sharing(tiny_text, test)


def test_lengths(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        [whole] = await engine.tokenize(["one two three"], add_special_tokens=False)
        size = len(whole)
        assert await engine.tokenize(["one two three", ""], add_special_tokens=False, max_length=3) == [whole[:3], []]
        padded = await engine.tokenize(["one two three"], add_special_tokens=False, max_length=size + 2, pad="left")
        assert padded == [[993, 993, *whole]]
        padded = await engine.tokenize(["one two three"], add_special_tokens=False, max_length=size + 2, pad="right")
        assert padded == [[*whole, 993, 993]]

    sharing(tiny_text, test)


def test_a_long_text_is_tokenized_whole(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        text = "wörd 🎉\n" * 20_000
        assert len(text.encode()) > 200_000
        # Longer than the model's context: that bounds prompts only.
        [ids] = await engine.tokenize([text], add_special_tokens=True)
        assert Tokenizer(tiny_text.path).decode(ids) == text

    sharing(tiny_text, test)


def test_a_tokenizer_from_gguf_keeps_all_of_a_long_text(smollm2: ModelSource, sharing: Sharing) -> None:
    async def test(engine: Engine) -> None:
        short, long = await engine.tokenize(["a", "a\n" * 100_000], add_special_tokens=True)
        assert (len(short), len(long)) == (1, 200_000)

    sharing(smollm2, test)


def test_a_long_text_is_refused_where_it_would_be_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A .gguf file that isn't converted, because no folder can be made in the cache."""
    file = write(tmp_path / "model.gguf")
    monkeypatch.setenv("SPECVINO_CACHE", str(file))

    async def test(engine: OpenVINOEngine) -> None:
        long = "a\n" * 100_000
        with pytest.raises(PromptError, match=r"^The text has about 200000 tokens; the tokenizer's limit is 511\."):
            await engine.tokenize([long], add_special_tokens=True, max_length=5)
        with pytest.raises(PromptError, match=r"^Text 2: The text has about"):
            await engine.tokenize(["a", long], add_special_tokens=True)

    running(open_gguf(file), test)


def test_it_needs_no_worker(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        answering = engine.generate(ask_all(TextPrompt("hello"), **LONG))
        await until_text(answering)
        worker = engine.pids["worker"]
        assert worker is not None
        os.kill(worker, signal.SIGSTOP)
        assert await engine.tokenize([""], add_special_tokens=True) == [[]]
        os.kill(worker, signal.SIGCONT)
        await answering.aclose()

    running(endless(tiny_text), test)


def test_a_text_that_takes_too_long_is_asked_to_come_back(tiny_text: ModelSource) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        preprocess = engine.pids["preprocess"]
        assert preprocess is not None
        os.kill(preprocess, signal.SIGSTOP)
        guilty = asyncio.create_task(engine.tokenize(["a", "b"], add_special_tokens=True))
        await asyncio.sleep(0)
        behind = asyncio.create_task(engine.tokenize(["c"], add_special_tokens=True))
        with pytest.raises(EngineUnavailable, match=r"took more than 5 s"):
            await guilty
        with pytest.raises(EngineRestarted):
            await behind
        with pytest.raises(EngineUnavailable):
            await engine.tokenize(["a"], add_special_tokens=True)
        while engine.stats().state != "ready":  # noqa: ASYNC110 - only tests wait for this
            await asyncio.sleep(0.01)
        assert await engine.tokenize(["", ""], add_special_tokens=True) == [[], []]

    running(tiny_text, test, preprocess_deadline=5.0)


def test_before_the_start_and_after_the_end(tiny_text: ModelSource) -> None:
    async def run() -> None:
        engine = OpenVINOEngine(tiny_text)
        with pytest.raises(EngineUnavailable):
            await engine.tokenize(["a"], add_special_tokens=True)
        await engine.start()
        await engine.close()
        with pytest.raises(EngineUnavailable):
            await engine.tokenize(["a"], add_special_tokens=True)

    asyncio.run(run())
