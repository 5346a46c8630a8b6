"""Parsing of incomplete text. A parser is a generator over a `TextSource`. It yields pieces, and None if it needs more
text; then it is resumed at the same point. So its code is that of a parser of complete text, and the chunks in which
the text arrives make no difference: every decision is made as soon as the necessary characters are available.
"""

import re
from collections.abc import Callable, Generator, Sequence
from enum import Enum, auto
from typing import TypeVar

from specvino.engine.output_parsers.pieces import AnswerText, Piece

T = TypeVar("T")
Step = Generator[Piece | None, None, T]

NOT_BLANK = re.compile(r"\S")


class Ending(Enum):
    """Why the text has ended."""

    INTERRUPTED = auto()  # other text follows that isn't for this parser
    DONE = auto()  # the model ended the output
    CUT = auto()  # the output was cut off


class TextSource:
    """The text of an output that has arrived so far. `rest` is the part that isn't in a piece yet. Reading looks ahead
    up to the index `at`; `drop` consumes that text. `marked` means that `rest` begins with a complete marker, which may
    begin a call; `ended` that the text has ended; `cut` that it ended within markup, which was dropped; `thinking` that
    the next text is reasoning.
    """

    def __init__(self, text: str = "", ended: bool = False) -> None:
        self.rest = text
        self.at = 0
        self.marked = False
        self.ended = ended
        self.cut = False
        self.thinking = False

    def drop(self) -> None:
        """Drops the text that was read."""
        self.take(self.at)

    def take(self, count: int) -> str:
        """Returns the first `count` characters of `rest`, and drops them."""
        taken, self.rest, self.at = self.rest[:count], self.rest[count:], 0
        self.marked = False
        return taken

    def end(self, ending: Ending) -> None:
        """Ends the text. The rest could have become markup, otherwise it would already be in a piece. After a complete
        marker it is treated as markup; otherwise only if the output was cut off, unless it is white space: if the model
        itself ends the output with `a <`, this is text.
        """
        self.ended = True
        if ending is not Ending.INTERRUPTED:
            self.cut = self.marked or (ending is Ending.CUT and not self.rest.isspace())
        if self.cut:
            self.take(len(self.rest))

    def one_of(self, texts: Sequence[str]) -> Step[str | None]:
        """Reads the longest of these texts that comes next. Returns None as soon as none of them matches."""
        while True:
            ahead = self.rest[self.at :]
            if not self.ended and any(len(text) > len(ahead) and text.startswith(ahead) for text in texts):
                yield None
                continue
            longest = max((text for text in texts if ahead.startswith(text)), key=len, default=None)
            self.at += len(longest or "")
            return longest

    def literal(self, text: str) -> Step[bool]:
        """Reads this text if it comes next. Returns whether it does."""
        return (yield from self.one_of((text,))) is not None

    def before(self, stop: re.Pattern[str]) -> Step[str]:
        """Reads up to the first match of a pattern, and returns the text before it."""
        start = self.at
        while (match := stop.search(self.rest, self.at)) is None:
            self.at = len(self.rest)
            if self.ended:
                return self.rest[start:]
            yield None
        self.at = match.start()
        return self.rest[start : self.at]

    def blank(self) -> Step[None]:
        """Reads white space."""
        yield from self.before(NOT_BLANK)

    def exactly(self, count: int) -> Step[str]:
        """Reads `count` characters; fewer only at the end of the text."""
        while len(self.rest) - self.at < count and not self.ended:
            yield None
        start = self.at
        self.at = min(start + count, len(self.rest))
        return self.rest[start : self.at]

    def until(self, marker: str, longest: int | None = None) -> Step[str | None]:
        """Reads up to and including a marker, and returns the text before it; None if that is longer than `longest`, or
        there is no marker."""
        start = searched = self.at
        while True:
            index = self.rest.find(marker, searched)
            shortest = (index if index >= 0 else len(self.rest) - len(marker) + 1) - start
            if longest is not None and shortest > longest:
                return None
            if index >= 0:
                self.at = index + len(marker)
                return self.rest[start:index]
            if self.ended:
                return None
            searched = max(start, len(self.rest) - len(marker) + 1)
            yield None

    def pieces_until(self, markers: Sequence[str], piece: Callable[[str], Piece] = AnswerText) -> Step[str | None]:
        """Yields the text before the first of the markers as pieces, and returns the marker without reading it; None if
        the text ends without one.
        """
        self.marked = False
        while True:
            first = min(((at, marker) for marker in markers if (at := self.rest.find(marker)) >= 0), default=None)
            if first is not None:
                index, marker = first
                if index:
                    yield piece(self.take(index))
                self.marked = True
                return marker
            free = len(self.rest) if self.ended else free_length(self.rest, markers)
            if free:
                yield piece(self.take(free))
            if self.ended:
                return None
            yield None

    def give_up(self, count: int) -> Step[None]:
        """Treats the first `count` characters as text instead of markup; the rest is read again."""
        if text := self.take(count):
            yield AnswerText(text)

    def closing(self, marker: str) -> Step[bool]:
        """Drops the marker if it comes next after optional white space; at the end of the text, also its beginning."""
        self.at = 0
        yield from self.blank()
        start = self.at
        is_closed = yield from self.literal(marker)
        if not is_closed and self.ended and marker.startswith(self.rest[start:]):
            is_closed, self.at = True, len(self.rest)
        if is_closed:
            self.drop()
        self.at = 0
        return is_closed


def free_length(text: str, markers: Sequence[str]) -> int:
    """Returns the length of the text before the longest tail that could begin one of the markers."""
    free = len(text)
    for marker in markers:
        at = text.find(marker[0], max(0, len(text) - len(marker) + 1))
        while 0 <= at < free:
            if marker.startswith(text[at:]):
                free = at
            at = text.find(marker[0], at + 1)
    return free
