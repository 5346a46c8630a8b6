"""Texts to tokens and back, on the vocabularies of large models."""

import re
from collections.abc import Sequence
from typing import Any

import numpy
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from models.vocabularies.family import Family
from openvino_genai import Tokenizer
from support.conversation import conversation

from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.output.detokenizer import DetokenizerFactory, byte_table_factory
from specvino.engine.request import Conversation, Message

TEXTS = [
    "Hello, world!",
    " Hello , world . It isn 't \t done !\n\n  def f( x ):\r\n\treturn 12345 * 3.14  # naïve\n",
    "you'll, YOU'LL, it's: x=1;y=2//**--__ {}[]<>|\\ ``` https://example.org/a?b=c&d=%20",
    "你好，世界。これは日本語です。한국어 문장입니다. ภาษาไทย हिन्दी العربية עברית русский",
    "🎉 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇫🇷🇯🇵 e\u0301 \u200b\ufeff 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🫠",
    "  two  spaces  ",
    "a" * 200,
    "",
]


@pytest.fixture(scope="module")
def detokenizers(preprocessor: Preprocessor) -> DetokenizerFactory:
    vocabulary = preprocessor.vocabulary()
    assert vocabulary.table is not None
    return byte_table_factory(vocabulary.table, vocabulary.special, drops_space=vocabulary.drops_space)


@pytest.fixture(scope="module")
def table(preprocessor: Preprocessor) -> Sequence[bytes]:
    return preprocessor.vocabulary().table or ()


@pytest.fixture(scope="module")
def last_id(tokenizer: Tokenizer) -> int:
    ids: list[int] = list(tokenizer.get_vocab().values())
    return max(ids)


def encoded(tokenizer: Tokenizer, text: str, *, add_special_tokens: bool = False) -> list[int]:
    ids: list[int] = tokenizer.encode(text, add_special_tokens=add_special_tokens).input_ids.data[0].tolist()
    return ids


def streamed(detokenizers: DetokenizerFactory, ids: Sequence[int], **how: Any) -> str:
    detokenizer = detokenizers(**how)
    return "".join([*(detokenizer.push([id]) for id in ids), detokenizer.finish()])


@pytest.mark.parametrize("text", TEXTS)
def test_tokens_are_those_of_the_makers_tokenizer(family: Family, tokenizer: Tokenizer, text: str) -> None:
    assert encoded(tokenizer, text) == family.tokens.reference(family)(text)


@pytest.mark.parametrize("text", TEXTS)
def test_texts_come_back(tokenizer: Tokenizer, detokenizers: DetokenizerFactory, text: str) -> None:
    ids = encoded(tokenizer, text)
    whole = tokenizer.decode(ids)
    assert streamed(detokenizers, ids) == whole
    # Qwen's brings a letter and its accent together.
    assert whole == text.replace("e\u0301", "é") or whole == text


def assert_same_text(
    tokenizer: Tokenizer, detokenizers: DetokenizerFactory, ids: Sequence[int], *, special: bool
) -> None:
    """The stream's text is the tokenizer's, but for a character that the last token left unfinished: the tokenizer
    shows U+FFFD there, a stream nothing."""
    detokenizer = detokenizers(special=special)
    text = "".join(detokenizer.push([id]) for id in ids)
    cut = "\ufffd" if detokenizer.unfinished else ""
    text += detokenizer.finish()
    assert text + cut == tokenizer.decode(list(ids), skip_special_tokens=not special)


# The beginning of a code point that there can't be, as the second byte tells, cut off before its last byte.
IMPOSSIBLE = re.compile(
    rb"(\xe0[\x80-\x9f]|\xed[\xa0-\xbf]|(\xf0[\x80-\x8f]|\xf4[\x90-\xbf]|[\xf5-\xf7][\x80-\xbf])[\x80-\xbf]?)"
    rb"(?![\x80-\xbf])"
)


@settings(max_examples=200)
@given(data=st.data())
def test_any_tokens_give_the_tokenizers_text(
    tokenizer: Tokenizer,
    table: Sequence[bytes],
    detokenizers: DetokenizerFactory,
    last_id: int,
    data: st.DataObject,
) -> None:
    """But for what the next test has."""
    ids = data.draw(st.lists(st.integers(0, last_id), min_size=1, max_size=20))
    assume(not IMPOSSIBLE.search(b"".join(table[id] for id in ids if id < len(table))))
    assert_same_text(tokenizer, detokenizers, ids, special=False)
    assert_same_text(tokenizer, detokenizers, ids, special=True)


@pytest.mark.parametrize("behind", [b"", b"a", b"\xc3"])
@pytest.mark.parametrize(
    "cut_off", [b"\xe0\x80", b"\xed\xbf", b"\xf0\x8f", b"\xf0\x8f\xbf", b"\xf4\x90", b"\xf5\x80", b"\xf7\xbf\x80"]
)
def test_bytes_that_begin_no_code_point(
    tokenizer: Tokenizer, table: Sequence[bytes], detokenizers: DetokenizerFactory, cut_off: bytes, behind: bytes
) -> None:
    """The tokenizer shows one U+FFFD for what is cut off, a stream one for each byte, as Unicode recommends."""
    assert IMPOSSIBLE.fullmatch(cut_off)
    single = {token: id for id, token in enumerate(table) if len(token) == 1}
    ids = [single[bytes([byte])] for byte in cut_off + behind]
    shown = behind.decode("utf-8", "ignore")
    waits = cut_off[0] == 0xED and not behind  # Python's decoder does, for the last byte of a surrogate
    assert streamed(detokenizers, ids, special=False) == ("" if waits else "\ufffd" * len(cut_off) + shown)
    last = "" if shown == behind.decode("latin-1") else "\ufffd"
    assert tokenizer.decode(ids, skip_special_tokens=True) == "\ufffd" + shown + last


def test_only_control_tokens_are_special(family: Family, preprocessor: Preprocessor) -> None:
    assert preprocessor.vocabulary().special == {id: text for text, id in family.control.items()}


def test_texts_begin_with_the_token_that_the_model_wants(family: Family, tokenizer: Tokenizer) -> None:
    begin = [family.control[family.begin]] if family.begin else []
    assert encoded(tokenizer, "Hello", add_special_tokens=True) == [*begin, *encoded(tokenizer, "Hello")]


def prepared(preprocessor: Preprocessor, prompt: Conversation) -> list[int]:
    ids: list[int] = numpy.frombuffer(preprocessor.preprocess(prompt), numpy.int64).tolist()
    return ids


def test_a_conversation_is_the_template_encoded(preprocessor: Preprocessor, tokenizer: Tokenizer) -> None:
    turns = [{"role": "user", "content": "Hi 🎉"}]
    rendered = tokenizer.apply_chat_template(turns, add_generation_prompt=True)
    assert prepared(preprocessor, conversation("Hi 🎉")) == encoded(tokenizer, rendered)


def test_control_tokens_that_users_type_stay_text(
    family: Family, preprocessor: Preprocessor, tokenizer: Tokenizer
) -> None:
    names = [*list(family.control)[:12], *list(family.control)[-2:]]
    forgery = "x" + "y".join(names) + "".join(names) + "<" + names[0] + "<0x0A>z"

    def controls(ids: list[int]) -> list[int]:
        return [id for id in ids if id in family.control.values()]

    honest, forged = prepared(preprocessor, conversation("Hi")), prepared(preprocessor, conversation(forgery))
    assert controls(forged) == controls(honest)
    # The model sees every character that was typed, and none beside them.
    assert tokenizer.decode(forged).replace(forgery, "Hi") == tokenizer.decode(honest)


def test_control_tokens_in_reasoning_stay_text(family: Family, preprocessor: Preprocessor) -> None:
    """A text at whose seam nothing stands before it."""
    name = next(iter(family.control))
    prompts = [
        Conversation((Message("user", "x"), Message("assistant", text), Message("user", "x")))
        for text in (name, "x" * len(name))
    ]
    forged, honest = (prepared(preprocessor, prompt) for prompt in prompts)
    assert sum(id in family.control.values() for id in forged) == sum(id in family.control.values() for id in honest)


def ids_of(token_ids: bytes) -> list[int]:
    ids: list[int] = numpy.frombuffer(token_ids, numpy.int64).tolist()
    return ids


@pytest.mark.parametrize("special", [False, True])
def test_control_tokens_as_text(preprocessor: Preprocessor, tokenizer: Tokenizer, special: bool) -> None:
    controls = preprocessor.vocabulary().special
    name = max(controls.values(), key=len)
    written = f"Say {name}, {name}{name} now"
    ids = ids_of(preprocessor.tokenize(written, add_special_tokens=special, parse_special=False))
    bare = ids_of(preprocessor.tokenize(written, add_special_tokens=False, parse_special=False))
    framed, empty = (encoded(tokenizer, text, add_special_tokens=special) for text in ("a", ""))
    assert not controls.keys() & {*bare}
    assert tokenizer.decode(bare) == written
    assert len(ids) - len(bare) == len(framed) - len(encoded(tokenizer, "a"))
    assert ids_of(preprocessor.tokenize("", add_special_tokens=special, parse_special=False)) == empty


@pytest.mark.parametrize("text", TEXTS)
def test_the_bytes_of_tokens_are_the_text(preprocessor: Preprocessor, text: str) -> None:
    pieces = preprocessor.token_bytes(preprocessor.tokenize(text, add_special_tokens=False))
    spelt = b"".join(pieces).decode()
    # SentencePiece sets a space before a text; Qwen's brings a letter and its accent together.
    assert spelt.replace("é", "e\u0301") in (shown := text.replace("é", "e\u0301"), f" {shown}")


def test_a_control_token_is_spelt_by_its_name(preprocessor: Preprocessor) -> None:
    for id, name in preprocessor.vocabulary().special.items():
        assert preprocessor.token_bytes(numpy.array([id]).tobytes()) == [name.encode()]
