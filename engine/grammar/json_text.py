"""JSON's own texts as nodes: written as Python's json writes them, one blank behind commas and colons.

So white space can't run on: a weak model would fill its whole answer with it.
"""

import json
from collections.abc import Iterable
from typing import Any

from specvino.engine.grammar import ranges
from specvino.engine.grammar.nodes import EMPTY, Chars, Choice, Grammar, Node, Repeat, Rule, Text, choice, sequence
from specvino.engine.grammar.ranges import ANY, Ranges

_SHORT = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}
_ESCAPED = ranges.union([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])
_HEX = Chars(ranges.of("0123456789abcdefABCDEF"))
DIGIT = Chars(((48, 57),))
NONZERO = Chars(((49, 57),))
QUOTE = Text('"')
COMMA = Text(", ")

# More digits than a double can hold say nothing; fewer mean that a weak model can't write zeros for ever.
MOST_DIGITS = 15


def literal(value: Any) -> Text:
    return Text(json.dumps(value, ensure_ascii=False))


def char(chars: Ranges) -> Node:
    """One of these characters inside of a JSON string."""
    plain = ranges.without(chars, _ESCAPED)
    options: list[Node] = [Chars(plain)] if plain else []
    for low, high in ranges.common(chars, _ESCAPED):
        options += [Text(_SHORT.get(chr(code), f"\\u{code:04x}")) for code in range(low, high + 1)]
    return choice(*options)


def any_char(grammar: Grammar) -> Rule:
    """Any character of a JSON string, in any spelling but half a surrogate pair."""
    if "char" not in grammar.rules:
        escaped = sequence(
            Text("u"), choice(_unit("0123456789abcefABCEF", "0123456789abcdefABCDEF"), _unit("dD", "01234567"))
        )
        grammar.rules["char"] = Choice(
            (
                Chars(ranges.without(ANY, _ESCAPED)),
                sequence(Text("\\"), choice(Chars(ranges.of('"\\/bfnrt')), escaped)),
            )
        )
    return Rule("char")


def _unit(first: str, second: str) -> Node:
    return sequence(Chars(ranges.of(first)), Chars(ranges.of(second)), _HEX, _HEX)


def any_string(grammar: Grammar) -> Rule:
    if "string" not in grammar.rules:
        grammar.rules["string"] = sequence(QUOTE, Repeat(any_char(grammar), 0, None), QUOTE)
    return Rule("string")


def any_integer(grammar: Grammar) -> Rule:
    if "integer" not in grammar.rules:
        digits = choice(Text("0"), sequence(NONZERO, Repeat(DIGIT, 0, MOST_DIGITS - 1)))
        grammar.rules["integer"] = sequence(Repeat(Text("-"), 0, 1), digits)
    return Rule("integer")


def any_number(grammar: Grammar) -> Rule:
    if "number" not in grammar.rules:
        fraction = sequence(Text("."), Repeat(DIGIT, 1, MOST_DIGITS))
        exponent = sequence(Chars(ranges.of("eE")), Repeat(Chars(ranges.of("+-")), 0, 1), Repeat(DIGIT, 1, 2))
        parts = (any_integer(grammar), Repeat(fraction, 0, 1), Repeat(exponent, 0, 1))
        grammar.rules["number"] = sequence(*parts)
    return Rule("number")


def any_value(grammar: Grammar) -> Rule:
    if "value" not in grammar.rules:
        grammar.rules["value"] = EMPTY  # its name is taken: it holds itself
        grammar.rules["value"] = choice(
            any_object(grammar),
            any_array(grammar),
            any_string(grammar),
            any_number(grammar),
            *(literal(value) for value in (True, False, None)),
        )
    return Rule("value")


def any_object(grammar: Grammar) -> Rule:
    if "object" not in grammar.rules:
        grammar.rules["object"] = EMPTY
        pair = sequence(any_string(grammar), Text(": "), any_value(grammar))
        grammar.rules["object"] = enclosed("{", grammar, pair, 0, None, "}")
    return Rule("object")


def any_array(grammar: Grammar) -> Rule:
    if "array" not in grammar.rules:
        grammar.rules["array"] = EMPTY
        grammar.rules["array"] = enclosed("[", grammar, any_value(grammar), 0, None, "]")
    return Rule("array")


def enclosed(opening: str, grammar: Grammar, item: Node, least: int, most: int | None, closing: str) -> Node:
    """A list of so many items, with commas and brackets."""
    if most == 0:
        return Text(opening + closing)
    rest = sequence(COMMA, item)
    if most != 1:
        rest = grammar.add("more", rest)
    items = sequence(item, grammar.repeat(rest, max(0, least - 1), None if most is None else most - 1))
    inside = items if least else choice(items, EMPTY)
    return sequence(Text(opening), inside, Text(closing))


def other_key(grammar: Grammar, names: Iterable[str]) -> Node:
    """Any string that is none of these names."""
    tree: dict[str, Any] = {}
    for name in names:
        node = tree
        for each in name:
            node = node.setdefault(each, {})
        node["end"] = {}
    return sequence(QUOTE, _other(grammar, tree)) if tree else any_string(grammar)


def _other(grammar: Grammar, tree: dict[str, Any]) -> Node:
    """What may follow, the closing quote included, so that no name is spelled."""
    children = {key: child for key, child in tree.items() if len(key) == 1}
    left = ranges.without(ranges.without(ANY, _ESCAPED), ranges.of("".join(children)))
    options: list[Node] = [] if "end" in tree else [QUOTE]
    options.append(sequence(Chars(left), Repeat(any_char(grammar), 0, None), QUOTE))
    for key, child in children.items():
        options.append(sequence(char(ranges.of(key)), grammar.add("key", _other(grammar, child))))
    return choice(*options)
