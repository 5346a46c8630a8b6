"""Tokens with probabilities: none is lost, and their texts are the text."""

import itertools
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.conversation import GREEDY

from specvino.engine.output.choice_text import ChoiceText
from specvino.engine.output.detokenizer import ByteTableDetokenizer
from specvino.engine.segments import TokenLogprob

# Words, parts of characters (also after a word), a token without text, and invalid UTF-8.
TABLE = [b"a", b"ab", b" b", b"", *(bytes([byte]) for byte in "é🎉".encode()), b" \xf0\x9f", b"\xff"]

IDS = st.lists(st.integers(0, len(TABLE) - 1), min_size=1, max_size=12)
STOPS = st.lists(st.text("ab é", min_size=1, max_size=3), max_size=3).map(tuple)
CUTS = st.lists(st.integers(0, 99), max_size=3)
ENDS = st.fixed_dictionaries(
    {
        "include_stop_str_in_output": st.booleans(),
        "stop_token_ids": st.frozensets(st.integers(0, len(TABLE) - 1), max_size=2),
        "min_tokens": st.integers(0, 4),
    }
)


def choice(stops: tuple[str, ...] = (), *, logprobs: bool = True, **sampling: Any) -> ChoiceText:
    return ChoiceText(ByteTableDetokenizer(TABLE), replace(GREEDY, stop=stops, **sampling), logprobs=logprobs)


def read(text: ChoiceText, ids: list[int], cuts: list[int], *, logprobs: bool = True) -> tuple[str, list[TokenLogprob]]:
    """Pushes the ids in pieces. The id at index i has the logprob -i."""
    joined = ""
    tokens: list[TokenLogprob] = []
    bounds = [0, *sorted(cut % len(ids) for cut in cuts), len(ids)]
    for start, end in itertools.pairwise(bounds):
        if text.stopped:
            break
        piece = text.push(ids[start:end], [-float(index) for index in range(start, end)])
        joined, tokens = joined + piece, [*tokens, *own_tokens(text, piece, logprobs)]
    if not text.stopped:
        piece = text.finish()
        joined, tokens = joined + piece, [*tokens, *own_tokens(text, piece, logprobs)]
    rest = text.rest_logprobs()
    assert not any(token.text for token in rest)
    return joined, [*tokens, *rest]


def own_tokens(text: ChoiceText, piece: str, logprobs: bool) -> tuple[TokenLogprob, ...]:
    """A piece comes with the tokens that it is made of."""
    tokens = text.take_logprobs()
    assert "".join(token.text for token in tokens) == (piece if logprobs else "")
    return tokens


@given(IDS, STOPS, CUTS, ENDS)
def test_every_token_comes_once_and_their_texts_are_the_text(
    ids: list[int], stops: tuple[str, ...], cuts: list[int], ends: dict[str, Any]
) -> None:
    counted = choice(stops, **ends)
    text, tokens = read(counted, ids, cuts)
    assert "".join(token.text for token in tokens) == text
    assert [token.logprob for token in tokens] == [-float(index) for index in range(counted.tokens)]
    assert [token.bytes for token in tokens] == [TABLE[id] for id in ids[: counted.tokens]]


@given(IDS, STOPS, CUTS, ENDS)
def test_the_text_is_the_same_without_them(
    ids: list[int], stops: tuple[str, ...], cuts: list[int], ends: dict[str, Any]
) -> None:
    plain = choice(stops, logprobs=False, **ends)
    stopping = choice(stops, **ends)
    text, none = read(plain, ids, cuts, logprobs=False)
    assert read(stopping, ids, cuts)[0] == text
    assert none == []
    assert (plain.stopped, plain.tokens) == (stopping.stopped, stopping.tokens)


def test_a_token_comes_with_its_text() -> None:
    text = choice()
    assert text.push([1], [-0.5]) == "ab"
    assert text.take_logprobs() == (TokenLogprob("ab", b"ab", -0.5),)


def test_the_parts_of_a_character_come_with_it() -> None:
    text = choice()
    assert text.push([10, 8], [-1, -2]) == ""
    assert text.take_logprobs() == ()
    assert text.push([9], [-3]) == " 🎉"
    assert [(token.text, token.bytes) for token in text.take_logprobs()] == [
        (" ", b" \xf0\x9f"),
        ("", b"\x8e"),
        ("🎉", b"\x89"),
    ]


def test_a_character_that_is_never_whole_is_left_out_but_not_its_tokens() -> None:
    text = choice()
    assert text.push([6, 7], [-1, -2]) == ""
    assert text.finish() == ""
    assert text.take_logprobs() == ()
    assert text.rest_logprobs() == (TokenLogprob("", b"\xf0", -1), TokenLogprob("", b"\x9f", -2))


def test_a_character_that_is_never_whole_may_be_in_the_middle() -> None:
    text = choice()
    assert text.push([6, 7, 0], [-1, -2, -3]) == "\N{REPLACEMENT CHARACTER}a"


def test_a_token_that_stops_inside_a_character_leaves_none_of_it() -> None:
    for keep in (False, True):
        text = choice(stop_token_ids=frozenset([3]), include_stop_str_in_output=keep)
        assert text.push([0, 6, 3], [-1, -2, -3]) == "a"
        assert text.stopped


def test_what_may_begin_a_stop_string_waits_with_its_tokens() -> None:
    text = choice(("abb",))
    assert text.push([0], [-1]) == ""
    assert text.take_logprobs() == ()
    assert text.push([2], [-2]) == "a b"
    assert [token.text for token in text.take_logprobs()] == ["a", " b"]


def test_a_stop_string_cuts_a_token() -> None:
    text = choice(("b",))
    assert text.push([1, 0], [-1, -2]) == "a"
    assert (text.stopped, text.stopped_by) == (True, "b")
    assert text.take_logprobs() == (TokenLogprob("a", b"ab", -1),)
    assert text.rest_logprobs() == ()


def test_a_stop_string_may_stay() -> None:
    text = choice(("b",), include_stop_str_in_output=True)
    assert text.push([1, 0], [-1, -2]) == "ab"
    assert text.take_logprobs() == (TokenLogprob("ab", b"ab", -1),)


def test_a_token_that_stops_gives_no_text() -> None:
    text = choice(("bx",), stop_token_ids=frozenset([2]))
    assert text.push([1, 2, 0], [-1, -2, -3]) == "ab"  # what could have begun a stop string comes out
    assert (text.stopped, text.stopped_by, text.tokens) == (True, 2, 2)
    assert text.take_logprobs() == (TokenLogprob("ab", b"ab", -1),)
    assert text.rest_logprobs() == (TokenLogprob("", b" b", -2),)


def test_a_token_that_stops_may_stay() -> None:
    text = choice(stop_token_ids=frozenset([2]), include_stop_str_in_output=True)
    assert text.push([1, 2, 0], [-1, -2, -3]) == "ab b"
    assert (text.stopped, text.tokens) == (True, 2)


def test_no_stop_is_seen_among_the_least_tokens() -> None:
    text = choice(("b",), stop_token_ids=frozenset([0]), min_tokens=2)
    assert text.push([0, 1], [-1, -2]) == "aab"
    assert not text.stopped
    assert text.push([2], [-3]) == " "
    assert text.stopped
