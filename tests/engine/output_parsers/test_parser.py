import pytest

from specvino.engine.output_parsers import AnswerText, CallEnd, Piece, ReasoningText
from specvino.engine.output_parsers.parser import WhitespaceTrimmer

END = CallEnd(True)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (
            [AnswerText(" \n"), AnswerText("a"), AnswerText(" "), AnswerText("b ")],
            [AnswerText(" \na"), AnswerText(" "), AnswerText("b ")],
        ),
        ([AnswerText("  ")], [AnswerText("  ")]),
        ([AnswerText(" "), END, AnswerText("\n"), END, AnswerText("\n")], [END, END]),
        ([AnswerText("a\n"), END, AnswerText("\n"), AnswerText("b")], [AnswerText("a\n"), END, AnswerText("\nb")]),
        (
            [ReasoningText("\n"), ReasoningText("a"), ReasoningText("\n"), ReasoningText("b\n")],
            [ReasoningText("a"), ReasoningText("\nb")],
        ),
        (
            [AnswerText(" "), ReasoningText("a "), AnswerText("\n"), AnswerText(" b")],
            [ReasoningText("a"), AnswerText("b")],
        ),
        ([ReasoningText("a"), AnswerText("\n")], [ReasoningText("a")]),
        ([ReasoningText("a"), AnswerText("\n"), END], [ReasoningText("a"), END]),
    ],
)
def test_white_space(pieces: list[Piece], expected: list[Piece]) -> None:
    blanks = WhitespaceTrimmer()
    assert [*(kept for piece in pieces for kept in blanks.push(piece)), *blanks.finish()] == expected
