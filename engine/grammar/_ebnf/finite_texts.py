"""The finite texts of a grammar: the shortest one, and pruning of options that have none."""

from collections import OrderedDict
from collections.abc import Mapping

from specvino.engine.grammar._ebnf.nodes import (
    EMPTY,
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
    choice,
    sequence,
)
from specvino.engine.grammar._ebnf.ranges import Ranges, contains


def shortest_text(grammar: Grammar) -> str:
    """Returns the shortest text of a grammar that allows a finite text, such as a pruned one."""
    known = lengths(grammar)
    texts: list[str] = []
    # A stack instead of recursion: an object with a thousand properties is a thousand rules deep.
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
                    (size, index) for index, option in enumerate(options) if (size := length(option, known)) is not None
                ]
                left.append(options[min(ends)[1]])
            case Repeat(item, least):
                left += [item] * least
    return "".join(texts)


def lengths(grammar: Grammar) -> dict[str, int]:
    """Returns the length of the shortest text of each rule that allows a finite text."""
    known: dict[str, int] = {}
    users: dict[str, list[str]] = {}
    for name, node in grammar.rules.items():
        for used in _rules(node):
            users.setdefault(used, []).append(name)
    left = OrderedDict.fromkeys(reversed(grammar.rules))  # rules mostly refer to later ones
    while left:
        name, _ = left.popitem(last=False)
        shortest = length(grammar.rules[name], known)
        if shortest is not None and shortest < known.get(name, shortest + 1):
            known[name] = shortest
            left.update(dict.fromkeys(users.get(name, ())))
    return known


def length(node: Node, known: Mapping[str, int]) -> int | None:
    """Returns the length of a node's shortest text; None if it has none."""
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


def prune(grammar: Grammar) -> bool:
    """Keeps only the rules that `root` reaches, and only their options with a finite text: a model that took another
    option would never end. Returns whether `root` has a finite text.
    """
    known = lengths(grammar)
    if "root" not in known:
        return False
    kept: dict[str, Node] = {}
    reached = ["root"]
    while reached:
        name = reached.pop()
        if name not in kept:
            kept[name] = _pruned(grammar.rules[name], known)
            reached += reversed(_rules(kept[name]))
            if name in grammar.lookaheads:
                reached += _rules(grammar.lookaheads[name])
    grammar.rules.clear()
    grammar.rules.update(kept)
    return True


def _pruned(node: Node, known: Mapping[str, int]) -> Node:
    match node:
        case Choice(options):
            return choice(*(_pruned(option, known) for option in options if length(option, known) is not None))
        case Sequence(items):
            return sequence(*(_pruned(item, known) for item in items))
        case Repeat(item, least, most):
            return EMPTY if length(item, known) is None else Repeat(_pruned(item, known), least, most)
    return node


def _rules(node: Node) -> list[str]:
    match node:
        case Rule(name) | Dispatch(rule=Rule(name)):
            return [name]
        case Choice(items) | Sequence(items):
            return [name for item in items for name in _rules(item)]
        case Repeat(item):
            return _rules(item)
    return []
