from specvino.engine.output.logprobs import LogprobAttribution
from specvino.engine.segments import TokenLogprob


def tokens(*texts: str) -> list[TokenLogprob]:
    return [TokenLogprob(text, text.encode(), -1.0) for text in texts]


def shares(*texts: str) -> LogprobAttribution:
    made = LogprobAttribution()
    made.add(tokens(*texts))
    return made


def texts(share: tuple[TokenLogprob, ...]) -> list[str]:
    return [token.text for token in share]


def test_a_piece_has_its_tokens() -> None:
    some = shares("a", "b", "c")
    assert texts(some.of("ab")) == ["a", "b"]
    assert texts(some.of("c")) == ["c"]
    assert some.rest() == ()


def test_framing_before_a_piece_gave_it_no_text_but_is_not_lost() -> None:
    some = shares("</think>", "\n\n", "t")
    share = some.of("t")
    assert texts(share) == ["", "", "t"]
    assert [token.bytes for token in share] == [b"</think>", b"\n\n", b"t"]


def test_a_token_that_is_partly_framing_is_cut() -> None:
    assert texts(shares("\n a").of("a")) == ["a"]
    assert texts(shares(">a", "b</").of("ab")) == ["a", "b"]


def test_a_token_of_two_pieces_goes_with_the_first() -> None:
    some = shares("ab", "c")
    assert texts(some.of("a")) == ["a"]
    assert texts(some.of("bc")) == ["c"]
    assert some.rest() == ()


def test_a_piece_whose_text_was_not_written_so_takes_what_it_covers() -> None:
    some = shares("a", "b")
    assert texts(some.of("\na")) == ["a", "b"]


def test_nothing_waits() -> None:
    assert LogprobAttribution().of("a") == ()


def test_what_is_left_at_the_end_gave_no_text() -> None:
    share = shares("}", "</tool_call>").rest()
    assert texts(share) == ["", ""]
    assert [token.bytes for token in share] == [b"}", b"</tool_call>"]


def test_as_written() -> None:
    some = shares("<tool_call>", '{"')
    assert texts(some.as_written()) == ["<tool_call>", '{"']
    assert some.rest() == ()
