"""A call is held back as long as it may repeat an earlier one, and else released at once, complete and in order."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.output.choice_output import RepeatedCalls
from specvino.engine.segments import Segment, TextDelta, TokenLogprob, ToolCallArguments, ToolCallEnd, ToolCallStart

A = '{"city": "Paris"}'
B = '{"city": "Paros"}'


def call(index: int, name: str, arguments: str, complete: bool = True) -> list[Segment]:
    """A token is a character of the arguments, or the name."""
    parts = [ToolCallArguments(0, index, char, (token(char),)) for char in arguments]
    return [ToolCallStart(0, index, name, (token(name),)), *parts, ToolCallEnd(0, index, complete)]


def token(text: str) -> TokenLogprob:
    return TokenLogprob(text, text.encode(), -0.5)


def pushed(repeats: RepeatedCalls, segments: Sequence[Segment]) -> list[list[Segment]]:
    """Returns the segments that each of the segments releases."""
    return [list(repeats.push(iter([segment]))) for segment in segments]


def test_what_is_not_made_yet_comes_at_once() -> None:
    segments = [TextDelta(0, "a"), *call(0, "f", A), *call(1, "g", A)]
    assert pushed(RepeatedCalls(), segments) == [[segment] for segment in segments]


def test_a_call_is_held_back_until_it_diverges() -> None:
    repeats, second = RepeatedCalls(), call(1, "f", B)
    pushed(repeats, call(0, "f", A))
    differs = 1 + B.index("o")
    assert pushed(repeats, second) == [[]] * differs + [second[: differs + 1]] + [[s] for s in second[differs + 1 :]]
    assert (repeats.is_repeated, repeats.rest()) == (False, [])


@pytest.mark.parametrize("between", [[], [("f", B)], [("g", A), ("f", "{}")]])
def test_nothing_is_shown_of_a_call_that_was_made(between: list[tuple[str, str]]) -> None:
    repeats = RepeatedCalls()
    for index, (name, arguments) in enumerate([("f", A), *between]):
        pushed(repeats, call(index, name, arguments))
        assert not repeats.is_repeated
    assert not any(pushed(repeats, call(9, "f", A)))
    assert repeats.is_repeated
    assert [token.text for token in repeats.rest()] == [""] * (1 + len(A))


def test_nothing_comes_behind_a_call_that_was_made() -> None:
    repeats = RepeatedCalls()
    assert list(repeats.push(iter([*call(0, "f", A), *call(1, "f", A), *call(2, "g", A)]))) == call(0, "f", A)


def test_a_call_that_is_shorter_is_another_one() -> None:
    repeats = RepeatedCalls()
    pushed(repeats, call(0, "f", A + " "))
    freed = pushed(repeats, call(1, "f", A))
    assert not any(freed[:-1])
    assert freed[-1] == call(1, "f", A)
    assert not repeats.is_repeated


def test_one_that_breaks_off_before_it_diverges_stays_held_back() -> None:
    repeats, broken = RepeatedCalls(), call(1, "f", A[:5], complete=False)
    pushed(repeats, call(0, "f", A))
    assert not any(pushed(repeats, broken))
    assert not repeats.is_repeated
    assert [token.bytes for token in repeats.rest()] == [b"f", *(char.encode() for char in A[:5])]


def test_text_behind_one_that_breaks_off_frees_it() -> None:
    repeats, broken = RepeatedCalls(), call(1, "f", A[:5], complete=False)
    pushed(repeats, call(0, "f", A))
    assert pushed(repeats, [*broken, TextDelta(0, "x")])[-1] == [*broken, TextDelta(0, "x")]


CALLS = st.lists(st.tuples(st.sampled_from("fg"), st.text("{ab}", max_size=4)), max_size=8)


@given(CALLS)
def test_all_calls_before_the_first_repeated_one_come_as_they_are(calls: list[tuple[str, str]]) -> None:
    first = next((at for at, pair in enumerate(calls) if pair in calls[:at]), len(calls))
    repeats = RepeatedCalls()
    segments = [segment for index, (name, text) in enumerate(calls) for segment in call(index, name, text)]
    shown = [segment for index, (name, text) in enumerate(calls[:first]) for segment in call(index, name, text)]
    assert list(repeats.push(iter(segments))) == shown
    assert repeats.is_repeated is (first < len(calls))
