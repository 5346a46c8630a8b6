"""What is SentencePiece's own: names for bytes, and a space before every text."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.vocabularies.build import build
from models.vocabularies.families.mistral import mistral, mistral_with_own_detokenizer
from openvino_genai import Tokenizer
from support.conversation import answer, ask, ask_all, text
from support.engines import running
from support.processes import leaving_no_process

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import ModelSource, resolve
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.native.tokenizer import corrected, load_tokenizer
from specvino.engine.request import StructuralTag, TokenPrompt


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistral")
    build(mistral(), folder)
    return folder


@pytest.fixture(scope="module")
def read(folder: Path) -> Callable[..., str]:
    tokenizer: Tokenizer = load_tokenizer(folder)
    decode: Callable[..., str] = tokenizer.decode
    return decode


@pytest.fixture(scope="module")
def read_by_name(folder: Path) -> Callable[..., str]:
    """As GenAI would by itself."""
    decode: Callable[..., str] = Tokenizer(folder).decode
    return decode


def test_tokens_are_their_bytes(folder: Path) -> None:
    names, bytes_ = Tokenizer(folder).get_vocab(), load_tokenizer(folder).get_vocab()
    assert {b"<0x0A>", "▁two".encode()} <= names.keys()
    assert bytes_[b"\n"] == names[b"<0x0A>"]
    assert bytes_[b"\xf0"] == names[b"<0xF0>"]
    assert bytes_[b" two"] == names["▁two".encode()]
    assert bytes_[b"[INST]"] == names[b"[INST]"]
    assert max(bytes_.values()) == max(names.values())
    assert not any(b"<0x" in token or "▁".encode() in token for token in bytes_)


@settings(max_examples=300)
@given(ids=st.lists(st.integers(771, 1026) | st.integers(0, 32_767), min_size=1, max_size=12), special=st.booleans())
def test_texts_are_the_same(
    read: Callable[..., str], read_by_name: Callable[..., str], ids: list[int], special: bool
) -> None:
    assert read(ids, skip_special_tokens=special) == read_by_name(ids, skip_special_tokens=special)


def test_others_are_loaded_as_they_are(tiny_text: ModelSource, tmp_path: Path) -> None:
    assert corrected(tiny_text.path) is None
    assert corrected(tmp_path) is None
    assert load_tokenizer(tiny_text.path).get_vocab() == Tokenizer(tiny_text.path).get_vocab()


def test_the_space_before_an_answer_counts_behind_a_raw_prompt(folder: Path) -> None:
    """The first token of an answer to a conversation shows none, as that of any text."""
    source = resolve(str(folder))

    async def test(engine: OpenVINOEngine) -> None:
        vocabulary = engine._preprocess.vocabulary
        assert vocabulary.drops_space
        assert vocabulary.table is not None
        word = vocabulary.table.index(b" two")
        assert engine._choices.detokenizer().push([word]) == "two"
        assert engine._choices.detokenizer(continued=True).push([word]) == " two"
        # A form makes sure of what comes.
        asked = ask_all(TokenPrompt((word,)), max_tokens=40)
        spaced = StructuralTag({"type": "structural_tag", "format": {"type": "const_string", "value": " two"}})
        assert text(await answer(engine, replace(asked, constraint=spaced))) == " two"
        chat = ask("Hello", max_tokens=40)
        assert text(await answer(engine, replace(chat, constraint=spaced))) == "two"

    running(source, test)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    build(mistral_with_own_detokenizer(), tmp_path)
    return tmp_path


def test_a_tokenizer_that_does_not_tell_its_vocabulary(closed: Path) -> None:
    async def run() -> None:
        with pytest.raises(ModelLoadError, match="convert it again with a newer openvino-tokenizers"):
            await OpenVINOEngine(resolve(str(closed))).start()

    with leaving_no_process():
        asyncio.run(run())
