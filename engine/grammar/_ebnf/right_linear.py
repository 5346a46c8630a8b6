"""Right-linear rules: a node followed by an end, as a chain of rules that end with a reference to the next one.

XGrammar precomputes which tokens fit at each position in a rule. Whether a token that crosses the end of the rule fits
depends on where the rule is used, so it is checked again at each step. If a rule ends after every character, this is
nearly the whole vocabulary, 200 ms per step for 152,000 tokens. The rules of this module end only with the end itself,
so only tokens that cross it are checked again. This holds for XGrammar 0.1.31 (decision 013).
"""

from itertools import islice

from specvino.engine.grammar._ebnf.counted import WINDOW, countable, counted
from specvino.engine.grammar._ebnf.nodes import (
    EMPTY,
    Choice,
    Grammar,
    Node,
    Repeat,
    Rule,
    Sequence,
    Text,
    choice,
    sequence,
)

# Repetitions with more positions in total use a rule that is compiled once.
MOST_PLACES = 256

NO_TOKEN = Text("\U0010ffff")


def followed(grammar: Grammar, node: Node, end: Node) -> Node:
    """Returns a node for `node` followed by `end`. `node` must consist of texts and characters, without references to
    rules, and its repeated items must not be empty.
    """
    match node:
        case Sequence(items):
            for item in reversed(items):
                end = followed(grammar, item, end)
            return end
        case Choice(options):
            end = _short(grammar, end)
            return choice(*(followed(grammar, option, end) for option in options))
        case Repeat(item, least, most):
            return _repeated(grammar, item, least, most, _short(grammar, end))
    return sequence(node, end)


def positions(node: Node) -> int:
    """Returns how many characters are written out. Repetitions count with their maximum, except for those of a single
    character, which cost no more than a few.
    """
    match node:
        case Text(text):
            return len(text)
        case Sequence(items) | Choice(items):
            return sum(map(positions, items))
        case Repeat(item, least, most):
            times = max(least, 1 if most is None else most)
            return positions(item) * (min(times, WINDOW + 1) if countable(item) else times)
    return 1


def _repeated(grammar: Grammar, item: Node, least: int, most: int | None, end: Rule | Text) -> Node:
    if countable(item) and (most is None or most > WINDOW):
        return counted(grammar, item, least, most, end)
    if positions(Repeat(item, least, most)) > MOST_PLACES:
        return sequence(grammar.repeat(_group(grammar, item), least, most), end)
    rest: Node = end
    if most is None:
        rest = grammar.add("any", end)
        grammar.rules[rest.name] = choice(followed(grammar, item, rest), end)
    else:
        for _ in range(most - least):
            rest = grammar.add("up_to", choice(followed(grammar, item, rest), end))
    for _ in range(least):
        rest = grammar.add("then", followed(grammar, item, rest))
    return rest


def _group(grammar: Grammar, item: Node) -> Rule:
    """Returns the rule of an item that is repeated as a whole. Its lookahead is a character that no vocabulary has, so
    that no token crosses its end, and the next item begins with a new token; otherwise nearly all tokens would be
    checked at each step.
    """
    known = len(grammar.rules)
    end = grammar.add("group_end", EMPTY)
    group = grammar.add("group", followed(grammar, item, end))
    for name in islice(grammar.rules, known, None):
        grammar.lookaheads.setdefault(name, NO_TOKEN)
    return group


def _short(grammar: Grammar, node: Node) -> Rule | Text:
    """Returns a node that is cheap to repeat: the node itself if it is a rule or a text, else a rule for it."""
    return node if isinstance(node, Rule | Text) else grammar.add("then", node)
