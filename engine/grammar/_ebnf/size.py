"""The size of a grammar: a measure of its compilation time that is the same on every machine."""

import functools
from collections.abc import Iterable, Mapping

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
from specvino.engine.grammar._errors import GrammarError, Path

# XGrammar computes a mask over the vocabulary for each position in a rule. If most tokens fit, this takes 40 ms of CPU
# time for 152,000 tokens and 13 ms for 49,000; if few fit, a few microseconds (decision 014).
MOST_OPEN_PLACES = 256

MOST_RULES = 20_000

# Characters of a rendered grammar.
LONGEST = 1_048_576

# Most tokens fit if a set has this many ASCII letters.
_MANY = 20
_LETTERS = frozenset(map(ord, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))


def require_small(grammar: Grammar, positions: Mapping[Path, int]) -> None:
    """Raises GrammarError for a grammar that would take many seconds to compile on any machine. `positions` has the
    number of open positions for each part of the schema.
    """
    require_few_rules(grammar, ())
    total = open_places(grammar.rules.values())
    if total > MOST_OPEN_PLACES:
        path = max(positions, key=positions.__getitem__, default=())
        raise GrammarError(
            path,
            f"most tokens fit at {total} places of the whole grammar, of which {positions.get(path, 0)} are in this "
            f"part; at most {MOST_OPEN_PLACES} are accepted. A pattern has one place for each character that it "
            "counts; lower its bounds, or omit the upper ones",
        )


def require_few_rules(grammar: Grammar, path: Path) -> None:
    """Raises GrammarError if a grammar, which may still grow, has too many rules."""
    if len(grammar.rules) > MOST_RULES:
        raise GrammarError(
            path, f"up to here its grammar has {len(grammar.rules)} rules; at most {MOST_RULES} are accepted"
        )


def require_short(length: int, path: Path) -> None:
    """Raises GrammarError if a grammar, which may still grow, is too long when rendered."""
    if length > LONGEST:
        raise GrammarError(path, f"up to here its grammar has {length} characters; at most {LONGEST} are accepted")


def least_length(node: Node) -> int:
    """Returns the minimum number of characters of a rendered node."""
    match node:
        case Text(text) | Until(text) | Dispatch(text):
            return 2 + len(text)
        case Sequence(items):
            return 1 + sum(1 + least_length(item) for item in items)
        case Choice(options):
            return 3 * len(options) + sum(map(least_length, options)) - 1
        case Repeat(item):
            return 3 + least_length(item)
        case Chars(ranges):
            return 4 + len(ranges)
        case Rule(name):
            return len(name)


def open_places(nodes: Iterable[Node]) -> int:
    """Returns the number of positions where most tokens of a vocabulary fit."""
    return sum(map(_open_places, nodes))


@functools.lru_cache(maxsize=4096)  # a grammar has few distinct sets
def _is_open(ranges: Ranges) -> bool:
    letters = sum(any(low <= letter <= high for low, high in ranges) for letter in _LETTERS)
    return letters >= _MANY


def _open_places(node: Node) -> int:
    match node:
        case Chars(ranges):
            return int(_is_open(ranges))
        case Sequence(items) | Choice(items):
            return open_places(items)
        case Repeat(item):
            return _open_places(item)
        case Until(text) | Dispatch(text):
            return len(text)
    return 0
