"""Scans JSON values character by character, so that arguments can be streamed while they are generated."""

import json
import re
from enum import Enum, auto

from specvino.engine.output_parsers.pieces import CallArguments
from specvino.engine.output_parsers.text_source import Step, TextSource

# Beyond these limits a client's parser may reject the arguments: Python's limits the depth and the digits of a number.
DEEPEST = 128
LONGEST_NUMBER = 400

PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
NUMBER_BEGUN = re.compile(r"-?(?:(?:0|[1-9]\d*)(?:\.\d*)?(?:(?<=\d)[eE][+-]?\d*)?)?", re.ASCII)
WORDS = {"t": "true", "f": "false", "n": "null"}
CLOSES = {"{": "}", "[": "]"}


class Expect(Enum):
    """The part of a JSON value that is expected next."""

    VALUE = auto()
    VALUE_OR_END = auto()  # after "["
    KEY = auto()
    KEY_OR_END = auto()  # after "{"
    COLON = auto()
    COMMA_OR_END = auto()
    STRING = auto()
    ESCAPE = auto()
    HEX = auto()
    NUMBER = auto()
    WORD = auto()


class JsonScanner:
    """Scans one JSON value. `done` means that it is complete, `broken` that it can't become valid. JSON forbids control
    characters in strings, but models write them, so they are escaped.
    """

    def __init__(self) -> None:
        self.done = False
        self.broken = False
        self._expect = Expect.VALUE
        self._open: list[str] = []
        self._is_key = False
        self._pending = ""  # the number so far, the rest of a word, or the hexadecimal digits so far

    def feed(self, text: str, at: int = 0) -> tuple[str, int]:
        """Scans on from `at`. Returns the valid text, and the index of its end."""
        out: list[str] = []
        while at < len(text) and not (self.done or self.broken):
            if self._expect is Expect.STRING and (plain := PLAIN.match(text, at)):
                out.append(plain[0])
                at = plain.end()
                continue
            written = self._character(text[at])
            if written is None:
                self.broken = True
            elif written or not self.done:
                out.append(written)
                at += 1
        return "".join(out), at

    def _character(self, char: str) -> str | None:
        """Returns the text for a character: None if it makes the value invalid; with `done`, the empty text if it
        follows the value.
        """
        match self._expect:
            case Expect.STRING:
                return self._in_string(char)
            case Expect.ESCAPE:
                if char == "u":
                    self._expect, self._pending = Expect.HEX, ""
                    return char
                self._expect = Expect.STRING
                return char if char in '"\\/bfnrt' else None
            case Expect.HEX:
                self._pending += char
                if len(self._pending) == 4:
                    self._expect = Expect.STRING
                return char if char in "0123456789abcdefABCDEF" else None
            case Expect.WORD:
                expected, self._pending = self._pending[0], self._pending[1:]
                if not self._pending:
                    self._after_value()
                return char if char == expected else None
            case Expect.NUMBER:
                if char in "0123456789+-.eE":
                    self._pending += char
                    valid = len(self._pending) <= LONGEST_NUMBER and NUMBER_BEGUN.fullmatch(self._pending)
                    return char if valid else None
                if not NUMBER.fullmatch(self._pending):
                    return None
                self._after_value()
                return "" if self.done else self._character(char)
            case _:
                return char if char in " \t\r\n" else self._between(char)

    def _in_string(self, char: str) -> str:
        if char == '"':
            if self._is_key:
                self._expect = Expect.COLON
            else:
                self._after_value()
        elif char == "\\":
            self._expect = Expect.ESCAPE
        else:
            return json.dumps(char)[1:-1]
        return char

    def _between(self, char: str) -> str | None:
        """Handles a character that isn't white space, outside of strings, numbers and words."""
        expect = self._expect
        if expect in (Expect.VALUE_OR_END, Expect.KEY_OR_END, Expect.COMMA_OR_END) and char == CLOSES[self._open[-1]]:
            self._open.pop()
            self._after_value()
            return char
        if expect in (Expect.KEY, Expect.KEY_OR_END):
            self._expect, self._is_key = Expect.STRING, True
            return char if char == '"' else None
        if expect is Expect.COLON:
            self._expect = Expect.VALUE
            return char if char == ":" else None
        if expect is Expect.COMMA_OR_END:
            self._expect = Expect.KEY if self._open[-1] == "{" else Expect.VALUE
            return char if char == "," else None
        return self._begin(char)

    def _begin(self, char: str) -> str | None:
        if char == '"':
            self._expect, self._is_key = Expect.STRING, False
        elif char in CLOSES:
            self._open.append(char)
            self._expect = Expect.KEY_OR_END if char == "{" else Expect.VALUE_OR_END
            if len(self._open) > DEEPEST:
                return None
        elif char in "-0123456789":
            self._expect, self._pending = Expect.NUMBER, char
        elif char in WORDS:
            self._expect, self._pending = Expect.WORD, WORDS[char][1:]
        else:
            return None
        return char

    def _after_value(self) -> None:
        if self._open:
            self._expect = Expect.COMMA_OR_END
        else:
            self.done = True


def json_value(source: TextSource) -> Step[str | None]:
    """Reads a JSON value. Returns None if there is none, or if it is incomplete."""
    scanner = JsonScanner()
    value = ""
    while True:
        text, source.at = scanner.feed(source.rest, source.at)
        value += text
        if scanner.done:
            return value
        if scanner.broken or source.ended:
            return None
        yield None


def json_object(source: TextSource) -> Step[bool]:
    """Yields the JSON object that begins here as arguments, and returns whether it is complete. The text after it isn't
    read.
    """
    scanner = JsonScanner()
    while True:
        text, at = scanner.feed(source.rest)
        source.take(at)
        if text:
            yield CallArguments(text)
        if scanner.done:
            return True
        if scanner.broken or source.ended:
            return False
        yield None
