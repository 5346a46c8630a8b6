"""Whatever a model writes, and wherever it is cut into pieces: nothing raises, and the pieces' sum is the same."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.formats import TOOLS, WRITERS, outcome, pieces_of

from specvino.engine.output_parsers import (
    REASONING_PARSERS,
    TOOL_PARSERS,
    AnswerText,
    CallArguments,
)
from specvino.engine.output_parsers.named_formats import MESSAGE_FRAMINGS

# Of the formats with messages only the twins go together.
PAIRS = [
    *(
        (tool, reasoning)
        for tool in TOOL_PARSERS
        for reasoning in (None, tool if tool in MESSAGE_FRAMINGS else "qwen3")
    ),
    *((None, reasoning) for reasoning in REASONING_PARSERS),
    ("gemma4", "gemma4"),
]
ARGUMENTS: list[dict[str, object]] = [
    {},
    {"city": "x\n'\"\\🎉"},
    {"days": 3, "options": {"a": [None, True]}, "tags": ["<"]},
]


def texts(tool_parser: str | None, reasoning_parser: str | None) -> st.SearchStrategy[str]:
    """Whole calls, their halves, the markers, and the characters that mean something."""
    calls = [
        write(name, arguments)
        for write in [WRITERS[tool_parser] if tool_parser else WRITERS["hermes3"]]
        for name in ("get_weather", "now", "nope")
        for arguments in ARGUMENTS
    ]
    format = TOOL_PARSERS.get(tool_parser or "")
    markers = sorted(
        {word for text in (format.literals if format else ()) for word in text.split()}
        | {"<think>", "</think>", "<|channel>", "<channel|>", "functools", "get_weather", "now"}
    )
    half = st.sampled_from(calls).flatmap(lambda call: st.integers(0, len(call)).map(lambda cut: call[:cut]))
    other_half = st.sampled_from(calls).flatmap(lambda call: st.integers(0, len(call)).map(lambda cut: call[cut:]))
    part = st.one_of(
        st.sampled_from(calls),
        half,
        other_half,
        st.sampled_from(markers),
        st.text("{}[]()<>|=:;,\"'\\ \nab1é🎉", max_size=6),
    )
    return st.lists(part, max_size=6).map("".join)


@pytest.mark.parametrize(("tool_parser", "reasoning_parser"), PAIRS)
@given(data=st.data())
def test_any_split_gives_the_same(tool_parser: str | None, reasoning_parser: str | None, data: st.DataObject) -> None:
    text = data.draw(texts(tool_parser, reasoning_parser))
    inside, cut = data.draw(st.booleans()), data.draw(st.booleans())
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=len(text))))
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    unsplit = pieces_of(tool_parser, reasoning_parser, [text], inside, cut=cut)
    outcome(unsplit)  # complete calls have arguments that parse
    assert pieces_of(tool_parser, reasoning_parser, parts, inside, cut=cut) == unsplit


@pytest.mark.parametrize("tool_parser", sorted(TOOL_PARSERS.keys() - MESSAGE_FRAMINGS.keys()))
@given(data=st.data())
def test_no_text_is_lost(tool_parser: str, data: st.DataObject) -> None:
    """Without calls it comes out as it went in; else the words between calls, and in halves of them, come in order."""
    parts = data.draw(st.lists(texts(tool_parser, None), max_size=4))
    words = [f"WORD{number}D" for number in range(len(parts))]
    text = "".join(part + word for part, word in zip(parts, words, strict=True))
    pieces = pieces_of(tool_parser, None, [text], tools=TOOLS)
    if all(isinstance(piece, AnswerText) for piece in pieces):
        assert "".join(piece.text for piece in pieces if isinstance(piece, AnswerText)) == text
    written = "".join(piece.text for piece in pieces if isinstance(piece, AnswerText | CallArguments))
    assert re.findall(r"WORD\d+D", written) == words


@pytest.mark.parametrize(("tool_parser", "reasoning_parser"), PAIRS)
@given(data=st.data())
def test_an_output_that_is_cut_loses_nothing_but_its_end(
    tool_parser: str | None, reasoning_parser: str | None, data: st.DataObject
) -> None:
    """Text that is dropped wasn't sent before, and the following text could have completed it."""
    text = data.draw(texts(tool_parser, reasoning_parser))
    kept = pieces_of(tool_parser, reasoning_parser, [text], cut=True)
    shown = "".join(piece.text for piece in kept if isinstance(piece, AnswerText))
    for more in ("", ".", "\n"):
        unsplit = pieces_of(tool_parser, reasoning_parser, [text, more])
        assert "".join(piece.text for piece in unsplit if isinstance(piece, AnswerText)).startswith(shown)
