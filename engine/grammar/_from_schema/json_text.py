"""JSON texts as nodes, in the format of Python's json: one blank after commas and colons.

White space is fixed because weak models would fill the whole answer with it.
"""

import json
from collections.abc import Iterable
from typing import Any

from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.counted import counted
from specvino.engine.grammar._ebnf.nodes import EMPTY, Chars, Grammar, Node, Repeat, Rule, Text, choice, sequence
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges

_SHORT = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", '"': '"', "\\": "\\"}
_ESCAPED = ranges.union([(0, 0x1F), (0x22, 0x22), (0x5C, 0x5C)])
_HEX = Chars(ranges.of("0123456789abcdefABCDEF"))
DIGIT = Chars(((48, 57),))
NONZERO = Chars(((49, 57),))
QUOTE = Text('"')
COMMA = Text(", ")

# A double has no more digits, and the bound prevents weak models from writing zeros forever.
MOST_DIGITS = 15

MOST_PREFIXES = 24  # see other_key


def literal(value: Any) -> Text:
    return Text(json.dumps(value, ensure_ascii=False))


def char(chars: Ranges) -> Node:
    """Returns a character of a set within a JSON string. Control characters are escaped as Python's json does."""
    plain = ranges.without(chars, _ESCAPED)
    options: list[Node] = [Chars(plain)] if plain else []
    escaped = [chr(code) for low, high in ranges.common(chars, _ESCAPED) for code in range(low, high + 1)]
    if letters := [_SHORT[char] for char in escaped if char in _SHORT]:
        options.append(sequence(Text("\\"), Chars(ranges.of("".join(letters)))))
    for high in (0, 1):
        low_digits = "".join(
            f"{ord(char) % 16:x}" for char in escaped if char not in _SHORT and ord(char) // 16 == high
        )
        if low_digits:
            options.append(sequence(Text(f"\\u00{high}"), Chars(ranges.of(low_digits))))
    return choice(*options)


# Any character in any spelling, except for half a surrogate pair.
ANY_CHAR = choice(
    Chars(ranges.without(ANY, _ESCAPED)),
    sequence(Text("\\"), Chars(ranges.of('"\\/bfnrt'))),
    sequence(Text("\\u"), Chars(ranges.of("0123456789abcefABCEF")), _HEX, _HEX, _HEX),
    sequence(Text("\\u"), Chars(ranges.of("dD")), Chars(ranges.of("01234567")), _HEX, _HEX),
)


def any_string(grammar: Grammar) -> Node:
    return sequence(QUOTE, any_rest(grammar))


def any_rest(grammar: Grammar) -> Node:
    """Returns the rest of any string after its opening quote, including the closing one."""
    return counted(grammar, ANY_CHAR, 0, None, QUOTE)


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
        grammar.rules["value"] = EMPTY  # reserves the name: the rule refers to itself
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
    """Returns `least` to `most` items with commas between brackets."""
    if most == 0:
        return Text(opening + closing)
    rest = sequence(COMMA, item)
    if most != 1:
        rest = grammar.add("more", rest)
    items = sequence(item, grammar.repeat(rest, max(0, least - 1), None if most is None else most - 1))
    inside = items if least else choice(items, EMPTY)
    return sequence(Text(opening), inside, Text(closing))


def other_key(grammar: Grammar, names: Iterable[str]) -> Node:
    """Returns a string that is none of these names.

    Each prefix after which names differ costs as much to compile as a string. So a grammar has at most MOST_PREFIXES of
    them, in addition to the empty prefix of each object. Beyond that, strings that begin like a name are left out.
    """
    names = frozenset(names)
    if not names:
        return any_string(grammar)
    left = MOST_PREFIXES - sum(name.startswith("prefix") for name in grammar.rules)
    return sequence(QUOTE, grammar.once("key", names, lambda _: _other(grammar, names, "", prefixes(names, left))))


def prefixes(names: Iterable[str], most: int) -> frozenset[str]:
    """Returns the beginnings of names by which they are told apart from others, the shortest first."""
    beginnings = {name[:length] for name in names for length in range(1, len(name) + 1)}
    return frozenset(sorted(beginnings, key=lambda prefix: (len(prefix), prefix))[: max(most, 0)])


def _other(grammar: Grammar, names: frozenset[str], prefix: str, prefixes: frozenset[str]) -> Node:
    """Returns the rest of a string after a prefix, including the closing quote, that matches none of the names."""
    following = {name[len(prefix)] for name in names if name.startswith(prefix) and name != prefix}
    left = ranges.without(ranges.without(ANY, _ESCAPED), ranges.of("".join(following)))
    options: list[Node] = [] if prefix in names else [QUOTE]
    options.append(sequence(Chars(left), any_rest(grammar)))
    for letter in sorted(following):
        if prefix + letter in prefixes:
            rest = grammar.add("prefix", _other(grammar, names, prefix + letter, prefixes))
            options.append(sequence(char(ranges.of(letter)), rest))
    return choice(*options)
