"""Which vocabularies get a byte table, and that others get none rather than a wrong one."""

import asyncio
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from msgspec.structs import replace
from openvino_genai import Tokenizer
from support.conversation import answer, ask, text

from specvino.engine.models import ModelSource
from specvino.engine.openvino.client.detokenizers import TextStreamerDetokenizer
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.preprocess.vocabulary import ByteTable, byte_table, model_size, special_tokens


class BytesTokenizer:
    """One token a byte, then a second `a` and `<s>` (special); subclasses decode in their own ways."""

    names = (*(bytes([byte]) for byte in range(256)), b"a", b"<s>")
    special = 257

    def get_vocab(self) -> dict[bytes, int]:
        return {name: i for i, name in reversed(list(enumerate(self.names)))}

    def encode(self, text: str, add_special_tokens: bool) -> Any:
        return SimpleNamespace(input_ids=SimpleNamespace(data=numpy.array([list(text.encode())])))

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> Any:
        if ids and isinstance(ids[0], list):
            return [self.decode(single, skip_special_tokens) for single in ids]
        kept = [self.names[i] for i in ids if i != self.special or not skip_special_tokens]
        return self.clean(b"".join(kept).decode(errors="replace"))

    def clean(self, text: str) -> str:
        return text


class WordMarks(BytesTokenizer):
    """Drops a space at the beginning, as SentencePiece does."""

    def clean(self, text: str) -> str:
        return text.removeprefix(" ")


class WordEnds(BytesTokenizer):
    """Drops a space at the end."""

    def clean(self, text: str) -> str:
        return text.removesuffix(" ")


class CleanUp(BytesTokenizer):
    """Mends the spaces before punctuation, as BERT's does."""

    def clean(self, text: str) -> str:
        return text.replace(" ,", ",").replace(" .", ".")


def table(tokenizer: Any) -> ByteTable | None:
    vocabulary = tokenizer.get_vocab()
    return byte_table(tokenizer, vocabulary, special_tokens(tokenizer, max(vocabulary.values()) + 1))


def test_special_tokens_and_twins() -> None:
    assert table(BytesTokenizer()) == ([*(bytes([byte]) for byte in range(256)), b"a", b""], False)


def test_a_space_at_the_beginning() -> None:
    assert table(WordMarks()) == ([*(bytes([byte]) for byte in range(256)), b"a", b""], True)


@pytest.mark.parametrize("tokenizer", [WordEnds(), CleanUp()])
def test_no_table_where_text_depends_on_neighbours(tokenizer: BytesTokenizer) -> None:
    assert table(tokenizer) is None


def test_the_special_tokens_of_real_models(tokenizer: Tokenizer) -> None:
    special = special_tokens(tokenizer, len(tokenizer.get_vocab()))
    assert {"<|im_start|>", "<|im_end|>", "<|endoftext|>"} <= set(special.values())
    assert special[tokenizer.get_eos_token_id()] == "<|im_end|>"


def test_the_size_of_real_models(source: ModelSource, tokenizer: Tokenizer) -> None:
    assert model_size(str(source.path)) == len(tokenizer.get_vocab())


def test_a_gguf_file_has_no_size_of_its_own() -> None:
    assert model_size("model.gguf") is None


def test_an_engine_without_a_table_uses_the_tokenizer(tiny_text: ModelSource) -> None:
    async def run() -> None:
        engine = OpenVINOEngine(tiny_text)
        await engine.start()
        with_table = text(await answer(engine, ask("emoji")))
        vocabulary = replace(engine._preprocess.vocabulary, table=None)
        engine._choices.detokenizer = await engine._choose_detokenizer(vocabulary)
        assert isinstance(engine._choices.detokenizer(), TextStreamerDetokenizer)
        assert text(await answer(engine, ask("emoji"))) == with_table == "你好 🎉 café!"
        await engine.close()

    asyncio.run(run())
