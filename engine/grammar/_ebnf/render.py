"""Rendering of a grammar in XGrammar's EBNF."""

import string
from collections.abc import Iterator
from itertools import pairwise

from specvino.engine.grammar._ebnf.nodes import (
    Chars,
    Choice,
    Dispatch,
    Grammar,
    Node,
    Repeat,
    Rule,
    Sequence,
    Text,
    Until,
)
from specvino.engine.grammar._ebnf.ranges import Ranges

_MISREAD = frozenset(map(chr, (*range(0x20), *range(0x7F, 0x100)))) - frozenset("\t\n\r")


# The last character of each length in UTF-8, and of each range of lead bytes with the same continuation bytes.
_LENGTHS = (0x7F, 0x7FF, 0xFFF, 0xFFFF, 0x3FFFF, 0xFFFFF, 0x10FFFF)


def render(grammar: Grammar) -> str:
    """Returns the text of a grammar."""
    return "".join(f"{name} ::= {_node(node)}{_lookahead(grammar, name)}\n" for name, node in grammar.rules.items())


def _lookahead(grammar: Grammar, name: str) -> str:
    node = grammar.lookaheads.get(name)
    return f" (= {_node(node)})" if node else ""


def fragile(text: str) -> bool:
    """Returns whether XGrammar would misread a literal text: it writes some characters as \\x and two digits, and when
    it parses that again, takes the next characters for more digits (decision 011)."""
    return any(char in _MISREAD and after in string.hexdigits for char, after in pairwise(text))


def _node(node: Node) -> str:
    match node:
        case Text(text):
            pieces = [""]
            for before, char in pairwise(["", *text]):
                if fragile(before + char):
                    pieces.append("")
                pieces[-1] += _char(char)
            return " ".join(f'"{piece}"' for piece in pieces)
        case Chars(ranges):
            sets = [""]
            for (_, before), (low, high) in pairwise([(0x20, 0x20), *_readable(ranges)]):
                if fragile(chr(before) + chr(low)):
                    sets.append("")
                sets[-1] += _range(low, high)
            return "(" + " | ".join(f"[{chars}]" for chars in sets if chars) + ")"
        case Rule(name):
            return name
        case Sequence(items):
            return "(" + " ".join(map(_node, items)) + ")"
        case Choice(options):
            return "(" + " | ".join(map(_node, options)) + ")"
        case Repeat(item, least, most):
            return f"({_node(item)}){_times(least, most)}"
        case Until(text):
            return f'TagDispatch(stop_eos=false, stop_str=("{"".join(map(_char, text))}"), loop_after_dispatch=false)'
        case Dispatch(trigger, rule):
            begun = f'("{"".join(map(_char, trigger))}", {rule.name})'
            return f"TagDispatch({begun}, stop_eos=true, stop_str=(), loop_after_dispatch=true)"


def _readable(ranges: Ranges) -> Iterator[tuple[int, int]]:
    """Yields the same characters in ranges that XGrammar 0.1.31 converts to the right bytes (decision 010).

    For a range of several lengths in UTF-8 it also creates overlong bytes; for a range such as U+0800 to U+D7FF it
    drops the last characters with the same lead byte (`AddSameLengthCharacterRange` has 0x0080 instead of 0x8080): a
    sixth of all Korean syllables would be missing, and a token that ends in their lead byte couldn't be continued.
    """
    for low, high in ranges:
        while low <= high:
            end = min([high, *(length for length in _LENGTHS if length >= low)])
            if end & 0xFFF != 0xFFF and low >> 12 != end >> 12:
                end = (end & ~0xFFF) - 1
            yield low, end
            low = end + 1


def _times(least: int, most: int | None) -> str:
    if most is None:
        return "*" if least == 0 else f"{{{least},}}"
    return f"{{{least}}}" if least == most else f"{{{least},{most}}}"


def _range(low: int, high: int) -> str:
    return _char(chr(low)) if low == high else f"{_char(chr(low))}-{_char(chr(high))}"


def _char(char: str) -> str:
    if char.isascii() and (char.isalnum() or char in " _:,{}"):
        return char
    return f"\\u{ord(char):04x}" if ord(char) <= 0xFFFF else f"\\U{ord(char):08x}"
