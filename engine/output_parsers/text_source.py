"""Reading text that isn't all there yet.

A parser is a generator over a `TextSource`. It yields pieces, and None where it can't go on before more text comes;
then it is resumed at the same place. So it reads like one for a complete text, and where that text is cut makes no
difference: every decision waits until the characters it needs are there, and is made as soon as they are.
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
    """Says why no more text comes."""

    INTERRUPTED = auto()  # other text follows, which is not to be read here
    DONE = auto()  # the model has said all that it wanted
    CUT = auto()  # it would have said more


class TextSource:
    """Holds the text of an output as far as it came. `rest` is the text that no piece has been made of yet. Reading
    looks ahead up to `at`; `drop` makes it final.

    `marked` says that it begins with a whole marker, which may begin a call. `ended` says that no more text comes,
    `cut` that it ended within markup, which is gone, and `thinking` that what comes next is reasoning.
    """

    def __init__(self, text: str = "", ended: bool = False) -> None:
        self.rest = text
        self.at = 0
        self.marked = False
        self.ended = ended
        self.cut = False
        self.thinking = False

    def drop(self) -> None:
        """Drops what was read: it is done with."""
        self.take(self.at)

    def take(self, count: int) -> str:
        """Reads from the beginning of `rest`, and drops it."""
        taken, self.rest, self.at = self.rest[:count], self.rest[count:], 0
        self.marked = False
        return taken

    def end(self, ending: Ending) -> None:
        """Notes that no more text comes.

        What is left could have become markup, else there would be a piece of it. Behind a whole marker it is that; else
        only in an output that was cut, and unless it is white space: a model that ends with `a <` means it.
        """
        self.ended = True
        if ending is not Ending.INTERRUPTED:
            self.cut = self.marked or (ending is Ending.CUT and not self.rest.isspace())
        if self.cut:
            self.take(len(self.rest))

    def one_of(self, texts: Sequence[str]) -> Step[str | None]:
        """Reads the longest of these texts that comes; returns None as soon as none of them can."""
        while True:
            ahead = self.rest[self.at :]
            if not self.ended and any(len(text) > len(ahead) and text.startswith(ahead) for text in texts):
                yield None
                continue
            found = max((text for text in texts if ahead.startswith(text)), key=len, default=None)
            self.at += len(found or "")
            return found

    def literal(self, text: str) -> Step[bool]:
        return (yield from self.one_of((text,))) is not None

    def before(self, stop: re.Pattern[str]) -> Step[str]:
        """Reads up to the first character that the pattern finds."""
        start = self.at
        while (found := stop.search(self.rest, self.at)) is None:
            self.at = len(self.rest)
            if self.ended:
                return self.rest[start:]
            yield None
        self.at = found.start()
        return self.rest[start : self.at]

    def blank(self) -> Step[None]:
        """Reads white space."""
        yield from self.before(NOT_BLANK)

    def exactly(self, count: int) -> Step[str]:
        """Reads so many characters, fewer only at the end of the text."""
        while len(self.rest) - self.at < count and not self.ended:
            yield None
        start = self.at
        self.at = min(start + count, len(self.rest))
        return self.rest[start : self.at]

    def until(self, marker: str, longest: int | None = None) -> Step[str | None]:
        """Reads up to and with the marker and returns what is before it; None if that is longer, or no marker comes."""
        start = searched = self.at
        while True:
            found = self.rest.find(marker, searched)
            shortest = (found if found >= 0 else len(self.rest) - len(marker) + 1) - start
            if longest is not None and shortest > longest:
                return None
            if found >= 0:
                self.at = found + len(marker)
                return self.rest[start:found]
            if self.ended:
                return None
            searched = max(start, len(self.rest) - len(marker) + 1)
            yield None

    def pieces_until(self, markers: Sequence[str], piece: Callable[[str], Piece] = AnswerText) -> Step[str | None]:
        """Makes pieces of the text before the first of the markers, which stays; returns None if the text ends without
        one."""
        self.marked = False
        while True:
            found = min(((at, marker) for marker in markers if (at := self.rest.find(marker)) >= 0), default=None)
            if found is not None:
                if found[0]:
                    yield piece(self.take(found[0]))
                self.marked = True
                return found[1]
            free = len(self.rest) if self.ended else free_length(self.rest, markers)
            if free:
                yield piece(self.take(free))
            if self.ended:
                return None
            yield None

    def give_up(self, count: int) -> Step[None]:
        """Takes back what was looked at, as it isn't what it seemed: its beginning is text, the rest is to be read
        again."""
        if text := self.take(count):
            yield AnswerText(text)

    def closing(self, marker: str) -> Step[bool]:
        """Drops the marker if it comes next, after white space; at the end of the text also the beginning of one."""
        self.at = 0
        yield from self.blank()
        start = self.at
        found = yield from self.literal(marker)
        if not found and self.ended and marker.startswith(self.rest[start:]):
            found, self.at = True, len(self.rest)
        if found:
            self.drop()
        self.at = 0
        return found


def free_length(text: str, markers: Sequence[str]) -> int:
    """Tells how much of the text is before the longest tail with which one of the markers could begin."""
    free = len(text)
    for marker in markers:
        at = text.find(marker[0], max(0, len(text) - len(marker) + 1))
        while 0 <= at < free:
            if marker.startswith(text[at:]):
                free = at
            at = text.find(marker[0], at + 1)
    return free
