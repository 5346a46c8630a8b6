"""How strings are written: in JSON, or plainly."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specvino.engine.grammar import json_text, ranges
from specvino.engine.grammar.nodes import EMPTY, Chars, Grammar, Node, Text
from specvino.engine.grammar.ranges import ANY, Ranges


@dataclass(frozen=True, slots=True)
class Spelling:
    """`quote` stands around a string, `char` is one character out of a set, `any_char` whichever."""

    quote: Node
    char: Callable[[Ranges], Node]
    any_char: Callable[[Grammar], Node]
    literal: Callable[[Any], Text]


# What ends a text that stands between tags begins so.
_TAG = ranges.of("<")


def _plain(chars: Ranges) -> Node:
    return Chars(ranges.without(chars, _TAG) or chars)


JSON = Spelling(json_text.QUOTE, json_text.char, json_text.any_char, json_text.literal)

PLAIN = Spelling(EMPTY, _plain, lambda _: _plain(ANY), lambda value: Text(str(value)))
"""Without quotes and escapes. It has no `<` but where a pattern or a listed value demands one."""
