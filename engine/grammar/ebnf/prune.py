"""Takes out of a grammar what no finite text can come of: a model that went there would never end."""

from collections.abc import Mapping

from specvino.engine.grammar.ebnf.example import length, lengths
from specvino.engine.grammar.ebnf.nodes import (
    EMPTY,
    Choice,
    Dispatch,
    Grammar,
    Node,
    Repeat,
    Rule,
    Sequence,
    choice,
    sequence,
)


def prune(grammar: Grammar) -> bool:
    """Keeps the rules that `root` leads to, and their options that can end. Returns whether `root` itself can."""
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
