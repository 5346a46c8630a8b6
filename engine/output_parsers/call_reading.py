"""Parsing of calls by their format. Everything except calls of known tools is text."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from specvino.engine.grammar import members
from specvino.engine.output_parsers import json_calls
from specvino.engine.output_parsers.argument_values import PythonLiterals, as_json, is_text, typed_json
from specvino.engine.output_parsers.call_format import (
    CDATA,
    ID,
    NAME,
    CallFormat,
    Elements,
    JsonArguments,
    JsonCall,
    Literals,
    Tool,
    Tools,
)
from specvino.engine.output_parsers.json_scanner import json_object
from specvino.engine.output_parsers.pieces import CallArguments, CallEnd, CallStart, Piece
from specvino.engine.output_parsers.text_source import Step, TextSource

# A longer text isn't parsed as the name of an argument.
LONGEST_NAME = 256

_USUAL_QUOTES = ('"', "'")
_NOT_ID, _NOT_NUMBER = re.compile(r"[^\w.:-]"), re.compile(r"[^0-9]")
_OF_A_NAME = re.compile(r"[\w.-]")

# Positions where models add or omit white space: around line breaks and between tags.
_BREAK = re.compile(r"\s*\n\s*|(?<=[>\]}])\s*(?=<(?!\])|\[(?!<)|\{)|(?<=[>\]}])\s+|\s+(?=[<\[{])")


class CallReader:
    """A parser of the calls of one format in an output."""

    def __init__(self, format: CallFormat, tools: Tools) -> None:
        self._format = format
        self._tools = tools
        before, _, after = format.head.partition(NAME)
        self._before_name, self._after_name = _words_around_id(before), _words_around_id(after)
        self._close_after = not after[:1].isspace()
        self._section_end, self._tail = _words(format.section[1]), _words(format.tail)
        # Texts that may begin calls, with the words that follow them, and whether a complete call follows, or the rest
        # of a call after its start.
        section, head = _words(format.section[0]), _words(format.start)
        self._starts: dict[str, tuple[list[str], bool]] = dict.fromkeys(format.marks, ([], True))
        if format.last_tag is not None:
            self._starts[format.last_tag] = ([], False)
        # A word such as `call:` begins a call within a section only.
        self._has_head = bool(head) and not (section and head[0][0].isalpha())
        if self._has_head:
            self._starts[head[0]] = (head[1:], False)
        self._bare = section[1:]
        if section:
            self._starts[section[0]] = (section[1:], True)
        if len(self._section_end) > 1 and self._section_end[:1] == head[:1]:  # it may begin the next call
            self._section_end[:2] = ["".join(self._section_end[:2])]
        self._separators = tuple(_words(format.separator)) or (",",)

    def parse(self, source: TextSource) -> Step[None]:
        """Yields the pieces of an output."""
        if self._format.bare:
            yield from source.blank()
            if (yield from self._all(source, self._bare)) and (yield from self.call(source)):
                yield from self._others(source)
            source.at = 0
        while marker := (yield from source.pieces_until(tuple(self._starts))):
            source.at = len(marker)
            words, is_complete = self._starts[marker]
            read = (yield from self._all(source, words)) and (
                yield from (self.call(source) if is_complete else self._after_start(source))
            )
            if read:
                yield from self._others(source)
            else:
                yield from source.give_up(len(marker))

    def _others(self, source: TextSource) -> Step[None]:
        """Reads the rest of a section after a call: further calls, and the section's end."""
        while True:
            ended = False
            for word in self._section_end:
                if not (yield from source.closing(word)):
                    break
                ended = True
            if ended or self._has_head:  # `parse` finds calls that have their own beginning
                return
            yield from source.blank()
            yield from source.one_of(self._separators)
            if not (yield from self.call(source)):
                source.at = 0
                return

    def call(self, source: TextSource) -> Step[bool]:
        """Yields the pieces of a call and returns True; returns False, with nothing dropped, if there is no call of a
        known tool."""
        return (yield from self._all(source, _words(self._format.start))) and (yield from self._after_start(source))

    def _after_start(self, source: TextSource) -> Step[bool]:
        yield from source.blank()
        match self._format.arguments:
            case JsonCall() as object_:
                if not (yield from json_calls.call(source, self._tools, object_)):
                    return False
            case arguments:
                tool = yield from self._named(source)
                if tool is None or not (yield from self._arguments(source, tool, arguments)):
                    return False
        for word in self._tail:
            if not (yield from source.closing(word)):
                break
        return True

    def _named(self, source: TextSource) -> Step[Tool | None]:
        """Reads the head, starting with its id or name. Returns the tool, or None."""
        if not (yield from self._past_id(source, self._before_name, begun=True)):
            return None
        tool = yield from self._tool(source)
        if tool is None or not (yield from self._past_id(source, self._after_name)):
            return None
        return tool

    def _tool(self, source: TextSource) -> Step[Tool | None]:
        """Reads the name of a tool. Returns None as soon as no name matches."""
        while True:
            ahead = source.rest[source.at :]
            if not source.ended and any(name.startswith(ahead) for name in self._tools):
                yield None
                continue
            name = max((name for name in self._tools if ahead.startswith(name)), key=len, default=None)
            if name is None or _OF_A_NAME.match(ahead, len(name)):
                return None
            source.at += len(name)
            return self._tools[name]

    def _past_id(self, source: TextSource, words: tuple[list[str], list[str]], begun: bool = False) -> Step[bool]:
        """Reads an id with the words around it, which models may omit. `begun` means that the words before it were
        read.
        """
        before, after = words
        if after and (begun or (yield from self._all(source, before))):
            yield from source.before(_NOT_NUMBER if self._format.numbered else _NOT_ID)
            return (yield from self._all(source, after, exact=True))
        return (yield from self._all(source, after or ([] if begun else before), exact=self._close_after))

    def _all(self, source: TextSource, words: Sequence[str], exact: bool = False) -> Step[bool]:
        """Reads these words, each after optional white space; if `exact`, no white space is allowed before the
        first.
        """
        for index, word in enumerate(words):
            if index or not exact:
                yield from source.blank()
            if not (yield from source.literal(word)):
                return False
        return True

    def _arguments(self, source: TextSource, tool: Tool, arguments: JsonArguments | Elements | Literals) -> Step[bool]:
        match arguments:
            case JsonArguments():
                return (yield from self._json(source, tool))
            case Elements():
                reader = _ElementsReader(arguments, self._tail)
                if self._after_name == ([], []) and not (yield from reader.comes(source)):
                    return False
                source.drop()
                yield CallStart(tool.name)
                complete = yield from reader.read(source, tool)
                source.at = 0
                yield CallEnd(complete)
            case Literals((opening, closing), assign, _, quote):
                if not (yield from source.literal(opening)):
                    return False
                yield CallStart(tool.name)
                literals = PythonLiterals() if quote in _USUAL_QUOTES else PythonLiterals(('"',), (quote,))
                yield from literals.arguments(source, assign.strip(), closing)
        return True

    def _json(self, source: TextSource, tool: Tool) -> Step[bool]:
        after_name = source.at
        yield from source.blank()
        if (yield from source.literal("{")):
            source.at -= 1
            source.drop()
            yield CallStart(tool.name)
            yield CallEnd((yield from json_object(source)))
            return True
        # A tool without parameters may have no arguments; for another tool the output may have been cut off here.
        if (tool.parameters or {}).get("properties") or source.at < len(source.rest):
            return False
        source.at = after_name
        source.drop()
        yield CallStart(tool.name)
        yield CallArguments("{}")
        yield CallEnd(True)
        return True


class _ElementsReader:
    """A parser of arguments in elements, up to the call's `tail`."""

    def __init__(self, format: Elements, tail: Sequence[str]) -> None:
        before, after = format.key
        start = _words(before)
        common = len([*takewhile(lambda words: words[0] == words[1], zip(start, tail, strict=False))])
        # The common prefix of elements and the end of the call, and the rest of each.
        self._common, self._start, self._close = start[:common], start[common:], tail[common : common + 1]
        name_end, _, kind_end = after.partition(ID)
        self._after_name, self._after_kind = _words(name_end), _words(kind_end)
        self._texts = dict(format.kinds).get("string")
        # One line break on either side of a value belongs to the tags.
        self._break_before, self._break_after = after.endswith("\n"), format.end.startswith("\n")
        self._end = format.end.strip()
        self._cdata = format.cdata

    def comes(self, source: TextSource) -> Step[bool]:
        """Returns whether an element or the end of the call comes next, without reading it."""
        begun = source.at
        yield from source.blank()
        comes = (yield from self._words(source, self._common)) and (
            yield from source.one_of((self._start[0], *self._close))
        )
        source.at = begun
        return bool(comes)

    def read(self, source: TextSource, tool: Tool) -> Step[bool]:
        """Yields the pieces of the arguments, and returns whether they are complete."""
        before = "{"
        properties = members(tool.parameters or {}).properties
        while True:
            yield from source.blank()
            begun = source.at
            more = None
            if (yield from self._words(source, self._common)):
                yield from source.blank()
                more = yield from source.one_of((self._start[0], *self._close))
            if more == (self._close[0] if self._close else None):
                source.at = begun
                source.drop()
                yield CallArguments("{}" if before == "{" else "}")
                return True
            if more is None or not (yield from self._words(source, self._start[1:])):
                return False
            name = yield from source.until(self._after_name[0], LONGEST_NAME)
            if name is None or not (yield from self._words(source, self._after_name[1:])):
                return False
            kind = None
            if self._after_kind:
                kind = yield from source.until(self._after_kind[0], LONGEST_NAME)
                if kind is None or not (yield from self._words(source, self._after_kind[1:])):
                    return False
            schema = properties.get(name)
            member = f"{before}{as_json(name)}: "
            text = is_text(schema, tool.parameters) if kind is None else kind == self._texts
            end = self._end.replace(NAME, name)
            if not (yield from self._value(source, tool, schema, member, end, text=text, typed=kind is not None)):
                return False
            before = ", "

    def _words(self, source: TextSource, words: Sequence[str]) -> Step[bool]:
        for word in words:
            yield from source.blank()
            if not (yield from source.literal(word)):
                return False
        return True

    def _value(
        self, source: TextSource, tool: Tool, schema: Any, member: str, end: str, *, text: bool, typed: bool
    ) -> Step[bool]:
        """Yields the pieces of a value up to its `end`, and returns whether it is complete. `member` is the JSON text
        before the value; `text` means that it is a string, `typed` that the call states its type.
        """
        if self._break_before:
            yield from source.literal("\n")
        if text:
            source.drop()
            yield CallArguments(member + '"')
            return (yield from self._string(source, end))
        written = yield from source.until(end)
        if written is None:
            return False
        source.drop()
        if self._cdata and written.startswith(CDATA[0]):
            written = written.removeprefix(CDATA[0]).removesuffix(CDATA[1])
        if self._break_after:
            written = written.removesuffix("\n")
        value = typed_json(written, None if typed else schema, None if typed else tool.parameters)
        yield CallArguments(member + value)
        return True

    def _string(self, source: TextSource, end: str) -> Step[bool]:
        """Yields a string in pieces while it is generated: models write whole files as one argument."""
        if self._cdata and (yield from source.literal(CDATA[0])):
            source.drop()
            end = CDATA[1] + end
        source.at = 0
        ends = (end, "\n" + end) if self._break_after else (end,)
        marker = yield from source.pieces_until(ends, _escaped)
        if marker is None:
            return False
        source.take(len(marker))
        yield CallArguments('"')
        return True


def _escaped(text: str) -> Piece:
    return CallArguments(as_json(text)[1:-1])


def _words(text: str) -> list[str]:
    return [word for word in _BREAK.split(text.strip()) if word]


def _words_around_id(text: str) -> tuple[list[str], list[str]]:
    """Returns the words before and after an id; without an id, all words come before it."""
    before, _, after = text.partition(ID)
    return _words(before), _words(after)
