"""A prompt's text and its tokens' texts, with special tokens in it or around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.output.detokenizer import byte_table_factory
from specvino.engine.output.echoed_prompt import EchoedPrompt
from specvino.engine.request import TextPrompt, TokenPrompt

BEGIN, END, A, B, PART, REST = range(6)
TOKENS = byte_table_factory([b"", b"", b"a", b" b", b"\xc3", b"\xa9"], {BEGIN: "<s>", END: "</s>"})


def tokens(
    prompt: TextPrompt | TokenPrompt, ids: list[int], **settings: bool
) -> tuple[str, list[str], list[bytes | None]]:
    echoed = EchoedPrompt(prompt, ids, TOKENS, **settings)
    echo = echoed.tokens([None, *([-1.0] * (len(ids) - 1))])
    assert [token.logprob for token in echo] == [None, *([-1.0] * (len(ids) - 1))]
    return echoed.text, [token.text for token in echo], [token.bytes for token in echo]


@pytest.mark.parametrize(
    ("text", "ids", "texts"),
    [
        ("a b", [A, B], ["a", " b"]),
        ("<s>a</s>", [BEGIN, A, END], ["<s>", "a", "</s>"]),
        ("a b", [BEGIN, A, B], ["", "a", " b"]),
        ("a</s> b", [BEGIN, A, END, B], ["", "a", "</s>", " b"]),
        ("a", [BEGIN, A, END], ["", "a", ""]),
        ("aé", [A, PART, REST], ["a", "", "é"]),
    ],
)
def test_a_text_comes_back_as_it_was_and_its_tokens_make_it_up(text: str, ids: list[int], texts: list[str]) -> None:
    echo, pieces, bytes = tokens(TextPrompt(text), ids)
    assert (echo, pieces) == (text, texts)
    # What isn't shown of special tokens isn't shown as bytes either.
    assert [part for part, piece in zip(bytes, pieces, strict=True) if piece == "" and part != b"\xc3"] == [
        b"" for id, piece in zip(ids, pieces, strict=True) if piece == "" and id != PART
    ]


def test_token_ids_become_the_text_that_they_stand_for() -> None:
    assert tokens(TokenPrompt((BEGIN, A, END)), [BEGIN, A, END])[:2] == ("a", ["", "a", ""])
    shown = tokens(TokenPrompt((BEGIN, A, END)), [BEGIN, A, END], special=True)
    assert shown[:2] == ("<s>a</s>", ["<s>", "a", "</s>"])


def test_a_prompt_that_ends_inside_a_character() -> None:
    assert tokens(TokenPrompt((A, PART)), [A, PART])[:2] == ("a", ["a", ""])


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.booleans())
def test_the_tokens_of_any_ids_make_up_the_text(ids: list[int], special: bool) -> None:
    text, pieces, _ = tokens(TokenPrompt(tuple(ids)), ids, special=special)
    assert "".join(pieces) == text
