import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.chat_template.special_token_escaping import marker, seam_for, split

SPECIAL = ["<|im_end|>", "<|im_start|>", "</s>", "|>x<|", "#"]
PIECES = st.lists(st.sampled_from([*SPECIAL, "<", "|", ">", "im_end", "a", "\n", "|im_"]), max_size=12)


@given(PIECES.map("".join))
def test_no_special_token_is_left_whole(text: str) -> None:
    seam = seam_for([text])
    marked = marker(SPECIAL, seam)(text)
    assert marked.replace(seam, "") == text
    assert not any(name in piece for piece in marked.split(seam) for name in SPECIAL if len(name) > 1)


@given(PIECES.map("".join))
def test_texts_without_special_tokens_stay_as_they_are(text: str) -> None:
    clean = "".join(text.split("|")).strip("<>")
    assert marker(["<|im_end|>", "<|im_start|>"], "\ue000")(clean) == clean


@given(PIECES.map("".join), PIECES.map("".join))
def test_no_special_token_is_left_whole_across_two_texts(first: str, second: str) -> None:
    mark = marker(SPECIAL, "\ue000")
    pieces = (mark(first) + mark(second)).split("\ue000")
    assert not any(name in piece for piece in pieces for name in SPECIAL if len(name) > 1)


def test_names_with_much_in_common() -> None:
    names = [f"<SPECIAL_{i}>" for i in range(1000)] + ["<S>", "<SPECIAL_1>x"]
    text = "".join(names)
    marked = marker(names, "\ue000")(text)
    assert marked.replace("\ue000", "") == text
    assert not any(name in piece for piece in marked.split("\ue000") for name in names)
    assert marker(names, "\ue000")("a <SPECIAL_1000> b") == "a <SPECIAL_1000> b"


def test_without_names_texts_stay_as_they_are() -> None:
    assert marker([], "\ue000")("<s>") == "<s>"


def test_the_seam_occurs_in_no_text() -> None:
    assert seam_for(["plain"]) == "\ue000"
    assert seam_for(["\ue000", "\ue001\ue003"]) == "\ue002"
    assert seam_for(["".join(map(chr, range(0xE000, 0xF900)))]) == "\U000f0000"


def test_a_conversation_of_all_private_characters_is_refused() -> None:
    everything = [*range(0xE000, 0xF900), *range(0xF0000, 0xFFFFE), *range(0x100000, 0x10FFFE)]
    with pytest.raises(ValueError, match="private-use"):
        seam_for(["".join(map(chr, everything))])


@pytest.mark.parametrize("seam", ["\ue000", "\U000f0000"])
@pytest.mark.parametrize("escaped", [str, repr, json.dumps])
def test_seams_are_cut_where_a_template_escapes_them(seam: str, escaped: Callable[[str], str]) -> None:
    pieces = split(escaped(f"{seam}a{seam}{seam}b{seam}"), seam)
    assert "".join(pieces) == escaped("ab")
    assert any(piece.endswith("a") for piece in pieces)


@pytest.mark.parametrize("text", ["\ue000", "\\ue000", r"\\ue000"])
def test_no_text_spells_the_seam(text: str) -> None:
    assert seam_for(["a", text]) == "\ue001"


def test_nothing_is_one_piece() -> None:
    assert split("", "\ue000") == split("\ue000", "\ue000") == [""]
