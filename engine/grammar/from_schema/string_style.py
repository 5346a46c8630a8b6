"""The style of strings: in JSON, or plainly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specvino.engine.grammar.ebnf import ranges
from specvino.engine.grammar.ebnf.nodes import EMPTY, Chars, Node, Text
from specvino.engine.grammar.ebnf.ranges import ANY, Ranges
from specvino.engine.grammar.from_schema import json_text


@dataclass(frozen=True, slots=True)
class StringStyle:
    """Says how strings are written. `begin` stands before a string and `end` behind it, `char` is one character out of
    a set, `any_char` whichever. `literal` is a whole value, with what stands around it."""

    begin: Text
    char: Callable[[Ranges], Node]
    any_char: Node
    literal: Callable[[Any], Text]
    end: Text


JSON = StringStyle(json_text.QUOTE, json_text.char, json_text.ANY_CHAR, json_text.literal, json_text.QUOTE)

# What ends a text that stands between tags begins so.
_TAG = ranges.of("<")


def plain(end: str = "") -> StringStyle:
    """Returns the style without quotes and escapes, up to `end`. It has no `<` but where a pattern or a listed value
    demands one."""

    def char(chars: Ranges) -> Node:
        return Chars(ranges.without(chars, _TAG) or chars)

    return StringStyle(EMPTY, char, char(ANY), lambda value: Text(f"{value}{end}"), Text(end))
