"""Values of arguments as JSON text: literals in Python-like syntax, and text whose type the schema defines. Literals
are strings in any of the given quotes, numbers, true, false and null in both spellings, lists, and objects, whose keys
may be unquoted. JSON is a subset.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.engine.grammar import admitted_types
from specvino.engine.output_parsers.json_scanner import DEEPEST, LONGEST_NUMBER, NUMBER
from specvino.engine.output_parsers.pieces import CallArguments, CallEnd
from specvino.engine.output_parsers.text_source import Step, TextSource

_STRING = frozenset(["string"])
NOT_BARE = re.compile(r"[\s=:,(){}\[\]\"'<>]")
WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\n": ""}
CODES = {"x": 2, "u": 4, "U": 8}


@dataclass(frozen=True)
class PythonLiterals:
    """Reads literals. `quotes` delimit strings with escapes, `raw_quotes` strings without."""

    quotes: Sequence[str] = ('"', "'")
    raw_quotes: Sequence[str] = ()

    def value(self, source: TextSource, depth: int = 0) -> Step[str | None]:
        """Reads a value as JSON text. Returns None if there is none, or if it is incomplete."""
        if depth > DEEPEST:
            return None
        opening = yield from source.one_of((*self.raw_quotes, *self.quotes, "[", "(", "{"))
        if opening in ("[", "("):
            return (yield from self._items(source, "]" if opening == "[" else ")", depth))
        if opening == "{":
            return (yield from self._object(source, depth))
        if opening is not None:
            string = yield from self._string(source, opening)
            return None if string is None else as_json(string)
        word = yield from source.before(NOT_BARE)
        if len(word) <= LONGEST_NUMBER and NUMBER.fullmatch(word):
            return word
        return WORDS.get(word)

    def key(self, source: TextSource) -> Step[str | None]:
        """Reads the key of a member, quoted or not. Returns None if there is none."""
        quote = yield from source.one_of((*self.raw_quotes, *self.quotes))
        if quote is not None:
            return (yield from self._string(source, quote))
        return (yield from source.before(NOT_BARE)) or None

    def arguments(self, source: TextSource, assign: str, close: str) -> Step[None]:
        """Yields the arguments of a call and its end as pieces, after the opening bracket."""
        source.drop()
        before = "{"
        while True:
            yield from source.blank()
            if (yield from source.literal(close)):
                source.drop()
                yield CallArguments("{}" if before == "{" else "}")
                yield CallEnd(True)
                return
            member = yield from self._member(source, assign, 0)
            if member is None:
                break
            yield from source.blank()
            following = yield from source.one_of((",", close))
            if following is None:
                break
            if following == close:
                source.at -= len(close)
            source.drop()
            yield CallArguments(before + member)
            before = ", "
        source.at = 0
        yield CallEnd(False)

    def _member(self, source: TextSource, assign: str, depth: int) -> Step[str | None]:
        key = yield from self.key(source)
        if key is None:
            return None
        yield from source.blank()
        if not (yield from source.literal(assign)):
            return None
        yield from source.blank()
        value = yield from self.value(source, depth + 1)
        return None if value is None else f"{as_json(key)}: {value}"

    def _object(self, source: TextSource, depth: int) -> Step[str | None]:
        members: list[str] = []
        while True:
            yield from source.blank()
            if (yield from source.literal("}")):
                return "{" + ", ".join(members) + "}"
            member = yield from self._member(source, ":", depth)
            if member is None or not (yield from self._more(source, "}")):
                return None
            members.append(member)

    def _items(self, source: TextSource, close: str, depth: int) -> Step[str | None]:
        items: list[str] = []
        while True:
            yield from source.blank()
            if (yield from source.literal(close)):
                return "[" + ", ".join(items) + "]"
            item = yield from self.value(source, depth + 1)
            if item is None or not (yield from self._more(source, close)):
                return None
            items.append(item)

    def _more(self, source: TextSource, close: str) -> Step[bool]:
        """Reads the comma after an item, or stops before the closing bracket. Returns whether there was either."""
        yield from source.blank()
        following = yield from source.one_of((",", close))
        if following == close:
            source.at -= len(close)
        return following is not None

    def _string(self, source: TextSource, quote: str) -> Step[str | None]:
        if quote in self.raw_quotes:
            return (yield from source.until(quote))
        special = re.compile(rf"[\\{quote}]")
        text = ""
        while True:
            text += yield from source.before(special)
            if (yield from source.literal(quote)):
                return text
            if not (yield from source.literal("\\")):
                return None
            escaped = yield from self._escape(source)
            if escaped is None:
                return None
            text += escaped

    def _escape(self, source: TextSource) -> Step[str | None]:
        char = yield from source.exactly(1)
        if not char:
            return None
        if char in CODES:
            digits = yield from source.exactly(CODES[char])
            if not re.fullmatch(rf"[0-9a-fA-F]{{{CODES[char]}}}", digits) or int(digits, 16) > 0x10FFFF:
                return None
            return chr(int(digits, 16))
        # Before any other character a backslash is literal, as in Python; before a quote or a slash it is dropped.
        return ESCAPES.get(char, char if char in "\"'\\/" else "\\" + char)


def as_json(text: str) -> str:
    """Returns a string as JSON text, unescaped unless it has lone surrogates, which UTF-8 can't encode."""
    written = json.dumps(text, ensure_ascii=False)
    return json.dumps(text) if any("\ud800" <= char <= "\udfff" for char in written) else written


def is_text(schema: Any, root: Mapping[str, Any] | None) -> bool:
    """Returns whether an argument is a string by its schema, regardless of its text."""
    return admitted_types(schema, root) == _STRING


def typed_json(text: str, schema: Any, root: Mapping[str, Any] | None) -> str:
    """Returns an argument as JSON text. A text that parses as another type has that type if the schema admits it, or
    admits no strings. Any other text is a string.
    """
    types = admitted_types(schema, root)
    if types == _STRING:
        return as_json(text)
    value = _literal(text.strip())
    if value is None or (types is not None and "string" in types and not types & _types(value)):
        return as_json(text)
    return value


def _literal(text: str) -> str | None:
    source = TextSource(text, ended=True)
    reading = PythonLiterals().value(source)
    while True:
        try:
            next(reading)  # doesn't wait, since the text is complete
        except StopIteration as end:
            value: str | None = end.value
            return value if source.at == len(text) else None


def _types(value: str) -> set[str]:
    match value[0]:
        case '"':
            return {"string"}
        case "[":
            return {"array"}
        case "{":
            return {"object"}
        case "t" | "f":
            return {"boolean"}
        case "n":
            return {"null"}
        case _:
            return {"number", "integer"}
