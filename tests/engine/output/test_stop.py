from hypothesis import given
from hypothesis import strategies as st

from specvino.engine.output.stop import StopMatcher

LETTERS = st.text("ab🎉", max_size=20)
STOPS = st.lists(st.text("ab🎉", min_size=1, max_size=5), min_size=1, max_size=4)


def up_to_stop(text: str, stops: list[str]) -> tuple[str, bool]:
    """The definition, by str.find: the stop that is complete first, and of several the longest."""
    matches = [(text.find(stop) + len(stop), -len(stop)) for stop in stops if stop in text]
    if not matches:
        return text, False
    end, minus_length = min(matches)
    return text[: end + minus_length], True


def run(pieces: list[str], stops: list[str]) -> tuple[list[str], bool]:
    matcher = StopMatcher(stops)
    out = []
    for piece in pieces:
        free, stopped = matcher.push(piece)
        out.append(free)
        if stopped:
            return out, True
    out.append(matcher.finish())
    return out, False


@given(LETTERS, STOPS)
def test_every_split_in_two_gives_the_same(text: str, stops: list[str]) -> None:
    expected = up_to_stop(text, stops)
    for cut in range(len(text) + 1):
        out, stopped = run([text[:cut], text[cut:]], stops)
        assert ("".join(out), stopped) == expected


@given(st.lists(st.text("ab🎉", max_size=3), max_size=12), STOPS)
def test_any_pieces_give_the_same(pieces: list[str], stops: list[str]) -> None:
    out, stopped = run(pieces, stops)
    assert ("".join(out), stopped) == up_to_stop("".join(pieces), stops)


@given(LETTERS, STOPS)
def test_no_more_is_held_back_than_could_begin_a_stop(text: str, stops: list[str]) -> None:
    free, stopped = StopMatcher(stops).push(text)
    held = text[len(free) :]
    assert stopped or not held or any(stop.startswith(held) for stop in stops)


def test_a_stop_across_three_pieces_never_leaks() -> None:
    assert run(["one <", "EN", "D> two"], ["<END>"]) == (["one ", "", ""], True)


def test_what_only_looked_like_a_stop_is_let_go() -> None:
    assert run(["a<E", "x"], ["<END>"]) == (["a", "<Ex", ""], False)
    assert run(["a<E"], ["<END>"]) == (["a", "<E"], False)


def test_a_stop_may_be_kept() -> None:
    matcher = StopMatcher(["<END>", "END>!"], keep=True)
    assert [matcher.push(piece) for piece in ("a<E", "ND>! b")] == [("a", False), ("<END>", True)]
