"""The shortest text that a grammar allows, if it allows any."""

from collections.abc import Mapping

from specvino.engine.grammar.ebnf.nodes import (
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
from specvino.engine.grammar.ebnf.ranges import Ranges, contains


def shortest_text(grammar: Grammar) -> str:
    """Returns the shortest text of a grammar, which must allow some finite text, as it does once it was pruned."""
    known = lengths(grammar)
    texts: list[str] = []
    # A stack instead of calls: an object of a thousand properties is a thousand rules deep.
    left: list[Node] = [Rule("root")]
    while left:
        match left.pop():
            case Text(text) | Until(text):
                texts.append(text)
            case Chars(ranges):
                texts.append(_char(ranges))
            case Dispatch():
                texts.append("")
            case Rule(name):
                left.append(grammar.rules[name])
            case Sequence(items):
                left += reversed(items)
            case Choice(options):
                ends = [
                    (size, place) for place, option in enumerate(options) if (size := length(option, known)) is not None
                ]
                left.append(options[min(ends)[1]])
            case Repeat(item, least):
                left += [item] * least
    return "".join(texts)


def lengths(grammar: Grammar) -> dict[str, int]:
    """Returns the length of the shortest text of each rule that allows a finite text at all."""
    known: dict[str, int] = {}
    rules = list(grammar.rules.items())
    changed = True
    while changed:
        changed = False
        rules.reverse()  # chains of rules run in either direction
        for name, node in rules:
            found = length(node, known)
            if found is not None and found < known.get(name, found + 1):
                known[name] = found
                changed = True
    return known


def length(node: Node, known: Mapping[str, int]) -> int | None:
    """Returns the length of a node's shortest text, None if there is none."""
    match node:
        case Text(text) | Until(text):
            return len(text)
        case Chars():
            return 1
        case Dispatch():
            return 0
        case Rule(name):
            return known.get(name)
        case Sequence(items):
            total = 0
            for item in items:
                size = length(item, known)
                if size is None:
                    return None
                total += size
            return total
        case Choice(options):
            return min((size for option in options if (size := length(option, known)) is not None), default=None)
        case Repeat(item, least):
            size = length(item, known) if least else 0
            return None if size is None else size * least


def _char(ranges: Ranges) -> str:
    return next((char for char in "a1A " if contains(ranges, char)), chr(ranges[0][0]))
