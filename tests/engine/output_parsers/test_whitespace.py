import pytest

from specvino.engine.output_parsers import CallEnd, Piece, Reasoning, Text
from specvino.engine.output_parsers.whitespace import Blanks

END = CallEnd(True)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([Text(" \n"), Text("a"), Text(" "), Text("b ")], [Text(" \na"), Text(" "), Text("b ")]),
        ([Text("  ")], [Text("  ")]),
        ([Text(" "), END, Text("\n"), END, Text("\n")], [END, END]),
        ([Text("a\n"), END, Text("\n"), Text("b")], [Text("a\n"), END, Text("\nb")]),
        ([Reasoning("\n"), Reasoning("a"), Reasoning("\n"), Reasoning("b\n")], [Reasoning("a"), Reasoning("\nb")]),
        ([Text(" "), Reasoning("a "), Text("\n"), Text(" b")], [Reasoning("a"), Text("b")]),
        ([Reasoning("a"), Text("\n")], [Reasoning("a")]),
        ([Reasoning("a"), Text("\n"), END], [Reasoning("a"), END]),
    ],
)
def test_white_space(pieces: list[Piece], expected: list[Piece]) -> None:
    blanks = Blanks()
    assert [*(kept for piece in pieces for kept in blanks.push(piece)), *blanks.finish()] == expected
