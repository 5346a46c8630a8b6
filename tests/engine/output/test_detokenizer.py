"""The byte table gives what the tokenizer gives, on both vocabularies."""

import codecs
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from openvino_genai import TextStreamer, Tokenizer

from specvino.engine.output.detokenizer import ByteTableDetokenizer, byte_table_factory

TEXTS = [
    "Hello, world!\n\n  def f(x):\n\treturn x  # indented\n",
    "naïve café, Ångström, résumé, “quotes” — dashes… ½ µ",
    "你好，世界。これは日本語です。한국어 문장입니다. ภาษาไทย हिन्दी العربية עברית",
    "🎉 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇫🇷🇯🇵 e\u0301 \u200b\ufeff 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 🫠",
    " , . it isn 't  so ( really ) ?  ...   \r\n",
    "",
]
HYPOTHESIS = settings(max_examples=300, deadline=None)


def pushed(table: list[bytes], ids: list[int]) -> list[str]:
    detokenizer = ByteTableDetokenizer(table)
    return [*(detokenizer.push([i]) for i in ids), detokenizer.finish()]


def streamed(tokenizer: Tokenizer, ids: list[int]) -> str:
    texts: list[str] = []

    def keep(text: str) -> bool:
        texts.append(text)
        return False

    streamer = TextStreamer(tokenizer, keep)
    for i in ids:
        streamer.write(i)
    streamer.end()
    return "".join(texts)


def encoded(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).input_ids.data[0].tolist())


@pytest.mark.parametrize("text", TEXTS)
def test_real_texts_come_back(tokenizer: Tokenizer, table: list[bytes], text: str) -> None:
    ids = encoded(tokenizer, text)
    assert "".join(pushed(table, ids)) == tokenizer.decode(ids) == streamed(tokenizer, ids) == text


@HYPOTHESIS
@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(tokenizer: Tokenizer, table: list[bytes], text: str) -> None:
    ids = encoded(tokenizer, text)
    decoded = tokenizer.decode(ids)
    assume(decoded == text)  # a vocabulary without all 256 bytes loses parts of rare characters
    assert "".join(pushed(table, ids)) == decoded


@HYPOTHESIS
@given(data=st.data())
def test_any_ids_give_the_tokenizers_text(tokenizer: Tokenizer, table: list[bytes], data: st.DataObject) -> None:
    # For bytes that aren't UTF-8 tokenizers differ: one drops them, one puts one U+FFFD or several.
    ids = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=30))
    ours = "".join(pushed(table, ids))
    assert ours.replace("\ufffd", "") == tokenizer.decode(ids).replace("\ufffd", "")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    assert ours == decoder.decode(b"".join(table[i] for i in ids))  # not final: what is unfinished is left out


@HYPOTHESIS
@given(data=st.data())
def test_pieces_are_whole_code_points(table: list[bytes], data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=30))
    cut = data.draw(st.integers(0, len(ids)))
    detokenizer = ByteTableDetokenizer(table)
    pieces = [detokenizer.push(ids[:cut]), detokenizer.push(ids[cut:]), detokenizer.finish()]
    assert "".join(pieces) == "".join(pushed(table, ids))
    if "\ufffd" not in "".join(pieces):
        assert all(piece == piece.encode().decode() for piece in pieces)


def test_an_unfinished_code_point_is_held_back_then_left_out(table: list[bytes]) -> None:
    start = table.index(b"\xf0") if b"\xf0" in table else table.index(b" \xf0\x9f")
    detokenizer = ByteTableDetokenizer(table)
    assert detokenizer.push([start]).strip() == ""
    assert detokenizer.unfinished
    assert detokenizer.finish() == ""
    assert not detokenizer.unfinished


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ([b"a\xf0\x9f"], "a"),
        ([b"a", b"\xf0", b"\x9f", b"\x8e"], "a"),
        ([b"\xf0\x9f", b"a"], "\ufffda"),
        ([b"\xf0\x9f", b"\xf0"], "\ufffd"),
        ([b"a", b"\xff"], "a\ufffd"),
        ([b"a", b"\x9f"], "a\ufffd"),
        (["\ufffd".encode()], "\ufffd"),
    ],
)
def test_only_what_may_still_become_a_character_is_left_out(tokens: list[bytes], text: str) -> None:
    assert "".join(pushed(tokens, list(range(len(tokens))))) == text


def test_ids_beyond_the_table_have_no_text() -> None:
    assert ByteTableDetokenizer([b"a"]).push([0, 7, 0]) == "aa"


def test_special_tokens_have_no_text(tokenizer: Tokenizer, table: list[bytes]) -> None:
    end = tokenizer.get_eos_token_id()
    assert tokenizer.decode([end], skip_special_tokens=False) == "<|im_end|>"
    assert table[end] == b""


def test_some_special_tokens_can_be_shown() -> None:
    make = byte_table_factory([b"a", b"", b""], {1: "<x>", 2: "<y>"})

    def read(**how: Any) -> str:
        return make(**how).push([1, 0, 2])

    assert read() == "a"
    assert read(shown=frozenset(["<y>", "<z>"])) == "a<y>"
    assert read(special=True) == read(shown=frozenset(["<x>", "<y>"])) == "<x>a<y>"


def test_a_space_at_the_beginning_can_be_left_out() -> None:
    detokenizer = ByteTableDetokenizer([b" a", b" ", b"\xc3", b"\xa9", b""], drops_space=True)
    read = [(detokenizer.push([id]), detokenizer.bytes_of(id)) for id in (4, 0, 0, 1, 2, 3)]
    assert read == [("", b""), ("a", b"a"), (" a", b" a"), (" ", b" "), ("", b"\xc3"), ("é", b"\xa9")]


def test_no_other_character_is_left_out() -> None:
    detokenizer = ByteTableDetokenizer([b" a", b"b"], drops_space=True)
    assert (detokenizer.push([1]), detokenizer.push([0])) == ("b", " a")


def test_behind_another_text_the_space_counts() -> None:
    make = byte_table_factory([b" a", b""], {1: "<s>"}, drops_space=True)
    assert make().push([0, 0]) == "a a"
    assert make(continued=True).push([0, 0]) == " a a"
    assert make(special=True).push([1, 0]) == "<s> a"
