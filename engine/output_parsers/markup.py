"""Calls written as markup, one element for each argument. The names of elements differ from format to format.

    <function=f><parameter=k>v</parameter></function>

A value ends at the first end tag: it has no way to hold one. It is typed by the tool's schema.
"""

from dataclasses import dataclass
from typing import Any

from specvino.engine.grammar.structural_tags.builders import (
    ANY_TEXT,
    Grammar,
    json_schema,
    marked_up,
    plain_string,
    tag,
)
from specvino.engine.json_schema.members import members
from specvino.engine.output_parsers.pieces import CallArguments, CallEnd, CallStart, Piece
from specvino.engine.output_parsers.python_literals import as_json
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools
from specvino.engine.output_parsers.untyped_arguments import is_text, typed_json

LONGEST_NAME = 256


@dataclass(frozen=True)
class Markup:
    """Reads and constrains calls in one kind of markup. `call` and `parameter` are what stands before and after a name
    in a start tag.

    `newline` says that one line break after a value's start tag and one before its end tag belong to the tags.
    """

    call: tuple[str, str]
    call_end: str
    parameter: tuple[str, str]
    parameter_end: str
    newline: bool = False

    def read(self, source: TextSource, tools: Tools) -> Step[bool]:
        """Makes pieces of a call and returns True; returns False, with nothing dropped, if there is none of a known
        tool."""
        before, after = self.call
        tags = {before + name + after: name for name in tools}
        tag = yield from source.one_of(tuple(tags))
        if tag is None:
            return False
        source.drop()
        tool = tools[tags[tag]]
        yield CallStart(tool.name)
        complete = yield from self._arguments(source, tool)
        source.at = 0
        yield CallEnd(complete)
        return True

    def _arguments(self, source: TextSource, tool: Tool) -> Step[bool]:
        before = "{"
        properties = members(tool.parameters or {}).properties
        while True:
            yield from source.blank()
            tag = yield from source.one_of((self.parameter[0], self.call_end))
            if tag == self.call_end:
                source.drop()
                yield CallArguments("{}" if before == "{" else "}")
                return True
            name = None if tag is None else (yield from source.until(self.parameter[1], LONGEST_NAME))
            if name is None or not (
                yield from self._value(source, tool, properties.get(name), f"{before}{as_json(name)}: ")
            ):
                return False
            before = ", "

    def _value(self, source: TextSource, tool: Tool, schema: Any, member: str) -> Step[bool]:
        """Makes pieces of a value. `member` is what stands before the argument in JSON."""
        if self.newline:
            yield from source.literal("\n")
        if is_text(schema, tool.parameters):
            source.drop()
            yield CallArguments(member + '"')
            return (yield from self._string(source))
        text = yield from source.until(self.parameter_end)
        if text is None:
            return False
        source.drop()
        if self.newline:
            text = text.removesuffix("\n")
        yield CallArguments(member + typed_json(text, schema, tool.parameters))
        return True

    def _string(self, source: TextSource) -> Step[bool]:
        """Passes a string on while it is written: models write whole files in one."""
        ends = (self.parameter_end, "\n" + self.parameter_end) if self.newline else (self.parameter_end,)
        end = yield from source.pieces_until(ends, escaped)
        if end is None:
            return False
        source.take(len(end))
        yield CallArguments('"')
        return True

    def forced_call_grammar(self, tool: Tool, begin: str = "", end: str = "") -> Grammar:
        """Returns the grammar of a tag around one call. Strings stand as they are; everything else is JSON."""
        break_ = "\n" if self.newline else ""

        def element(name: str, schema: Any) -> Grammar:
            start = break_ + self.parameter[0] + name + self.parameter[1] + break_
            text = plain_string(schema)
            if text == ANY_TEXT:  # it ends where the parser ends it: before the first end tag
                return tag(start, text, self.parameter_end)
            return tag(start, text or json_schema(schema), break_ + self.parameter_end)

        head = begin + self.call[0] + tool.name + self.call[1]
        return tag(head, marked_up(tool.parameters, element), break_ + self.call_end + end)


def escaped(text: str) -> Piece:
    return CallArguments(as_json(text)[1:-1])
