"""White space that belongs to the output's framing, not to the answer.

Around calls and reasoning models write line breaks. What is left of them when the framing is gone:
nothing around reasoning, nothing between calls; before and after a call the text keeps its own.
"""

from collections.abc import Iterator

from specvino.engine.output_parsers.pieces import AnswerText, Piece, ReasoningText


class WhitespaceTrimmer:
    """Drops the white space of the framing from the pieces of one output."""

    def __init__(self) -> None:
        self._held = ""
        self._last: type[Piece] | None = None  # the kind of the last piece that passed

    def push(self, piece: Piece) -> Iterator[Piece]:
        match piece:
            case AnswerText(text):
                yield from self._text(text)
            case ReasoningText(text):
                yield from self._reasoning(text)
            case _:
                self._held = ""
                self._last = type(piece)
                yield piece

    def finish(self) -> Iterator[Piece]:
        """Yields what was held back of an output of white space alone: that is an answer."""
        if self._held and self._last is None:
            yield AnswerText(self._held)

    def _text(self, text: str) -> Iterator[Piece]:
        if self._last is ReasoningText:
            self._held, text = "", text.lstrip()
        text = self._held + text
        if self._last is AnswerText or not text.isspace():
            self._held = ""
            if text:
                self._last = AnswerText
                yield AnswerText(text)
        else:
            self._held = text

    def _reasoning(self, text: str) -> Iterator[Piece]:
        text = self._held + text if self._last is ReasoningText else text.lstrip()
        free = text.rstrip()
        self._held = text[len(free) :]
        if free:
            self._last = ReasoningText
            yield ReasoningText(free)
