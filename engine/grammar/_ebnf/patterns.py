"""Regular expressions of ECMAScript and Python as nodes of a grammar."""

import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from re import _constants as sre  # type: ignore[attr-defined, unused-ignore]
from re import _parser as sre_parser  # type: ignore[attr-defined, unused-ignore]
from typing import Any

from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.nodes import EMPTY, Chars, Node, Repeat, choice, sequence
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges
from specvino.engine.grammar._ebnf.right_linear import places

LONGEST = 4096  # characters

MOST_PLACES = 2048  # see right_linear.places

_DIGITS = ranges.of("0123456789")
_WORD = ranges.union([(48, 57), (65, 90), (95, 95), (97, 122)])
_SPACE = ranges.of(" \t\n\r\v\f\u00a0\u2028\u2029\ufeff")
_LINE_ENDS = ranges.of("\n\r\u2028\u2029")


class _Sets:
    """The sets of `\\d`, `\\w` and `\\s` in a language. A grammar allows the characters of `narrow` ones; where it must
    not allow any, it excludes those of `wide` ones."""

    def __init__(self, narrow: Mapping[Any, Ranges], wide: Callable[[], Mapping[Any, Ranges]]) -> None:
        self._narrow = narrow
        self._wide = wide

    def of(self, category: Any, *, negated: bool) -> Ranges:
        """Returns the characters of a category; those of a `negated` set are excluded."""
        if category in _COMPLEMENTS:
            positive = _COMPLEMENTS[category]
            return ranges.without(ANY, self._narrow[positive] if negated else self._wide()[positive])
        return self._wide()[category] if negated else self._narrow[category]


_POSITIVE: dict[Any, Ranges] = {
    sre.CATEGORY_DIGIT: _DIGITS,
    sre.CATEGORY_WORD: _WORD,
    sre.CATEGORY_SPACE: _SPACE,
}
_COMPLEMENTS = {
    sre.CATEGORY_NOT_DIGIT: sre.CATEGORY_DIGIT,
    sre.CATEGORY_NOT_WORD: sre.CATEGORY_WORD,
    sre.CATEGORY_NOT_SPACE: sre.CATEGORY_SPACE,
}


@cache
def _of_python() -> Mapping[Any, Ranges]:
    """Returns the sets of Python, which have characters of all languages; this takes a third of a second."""
    kinds: dict[Any, Callable[[str], bool]] = {
        sre.CATEGORY_DIGIT: str.isdecimal,
        sre.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
        sre.CATEGORY_SPACE: str.isspace,
    }
    every = [chr(code) for low, high in ANY for code in range(low, high + 1)]
    return {
        category: ranges.union((ord(char), ord(char)) for char in every if is_one(char))
        for category, is_one in kinds.items()
    }


_ECMASCRIPT = _Sets(_POSITIVE, lambda: _POSITIVE)
# Python has no byte order mark among its white space.
_PYTHON = _Sets({**_POSITIVE, sre.CATEGORY_SPACE: ranges.without(_SPACE, ranges.of("\ufeff"))}, _of_python)

_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")
_STARTS = (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
_ENDS = (sre.AT_END, sre.AT_END_STRING)

# pydantic's pattern of Decimal has a lookahead, which grammars can't express; this matches the same texts.
_REWRITTEN = {r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$": r"^[+-]?(?:\d+\.?\d*|\.\d+)$"}

CharNode = Callable[[Ranges], Node]


class PatternError(ValueError):
    """The expression is invalid, or no grammar can express it; `str()` is the reason."""


class Pattern:
    """A parsed expression, which matches anywhere in a text unless it has anchors. Raises PatternError."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._tree = _parsed(_NAMED_GROUP.sub("(?P<", _REWRITTEN.get(expression, expression)))
        require_few_places(self.node())

    def node(self, char: CharNode = Chars) -> Node:
        """Returns the node of the texts that it matches, without rules. `char` makes the node of a character set."""
        return _Builder(char).anchored(self._tree)

    def repeated_char(self) -> tuple[Ranges, int, int | None] | None:
        """Returns the set of characters and the bounds of an expression such as `^[a-z]{2,5}$`; None for any other
        expression.
        """
        match self._tree:
            case [(sre.AT, start), (sre.MAX_REPEAT | sre.MIN_REPEAT, (least, most, item)), (sre.AT, end)]:
                if start in _STARTS and end in _ENDS and len(item) == 1 and (chars := _chars(*item[0])):
                    return chars, least, None if most is sre.MAXREPEAT else most
        return None


def terminal(expression: str, char: CharNode) -> Node:
    """Returns the node of the texts that an expression of Python's `re` matches as a whole. Raises PatternError."""
    return _Builder(char, _PYTHON).unanchored(_parsed(expression))


def require_few_places(node: Node) -> None:
    """Raises PatternError for a node with too many characters."""
    if (count := places(node)) > MOST_PLACES:
        raise PatternError(
            f"with its repetitions written out it has {count} characters; at most {MOST_PLACES} can be enforced"
        )


def _parsed(expression: str) -> list[Any]:
    if len(expression) > LONGEST:
        raise PatternError(f"it has {len(expression)} characters; at most {LONGEST} are accepted")
    try:
        with warnings.catch_warnings(action="ignore"):
            parsed = sre_parser.parse(expression)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(f"it can't be parsed: {error}") from None
    if parsed.state.flags & ~re.UNICODE:
        raise PatternError("flags can't be enforced")
    return list(parsed)


class _Builder:
    def __init__(self, char: CharNode, sets: _Sets = _ECMASCRIPT) -> None:
        self._char = char
        self._sets = sets

    def anchored(self, tree: list[Any], *, started: bool = False) -> Node:
        """Returns the node of the expression, or of one of its alternatives. `started` means that it begins at the
        start of the text.
        """
        if tree and tree[0][0] is sre.AT and tree[0][1] in _STARTS:
            return self.anchored(tree[1:], started=True)
        match tree:
            case [(sre.BRANCH, (None, branches))]:
                return choice(*(self.anchored(list(branch), started=started) for branch in branches))
        ended = bool(tree) and tree[-1][0] is sre.AT and tree[-1][1] in _ENDS
        anything = Repeat(self._char(ANY), 0, None)
        inner = self.unanchored(tree[: len(tree) - ended])
        return sequence(EMPTY if started else anything, inner, EMPTY if ended else anything)

    def unanchored(self, tree: Any) -> Node:
        """Returns the node of an expression without anchors."""
        return sequence(*(self._one(op, value) for op, value in tree))

    def _one(self, op: Any, value: Any) -> Node:
        if (chars := _chars(op, value, self._sets)) is not None:
            if not chars:
                raise PatternError("it has an empty set of characters")
            return self._char(chars)
        match op, value:
            case sre.BRANCH, (None, branches):
                return choice(*(self.unanchored(branch) for branch in branches))
            case sre.SUBPATTERN, (_, 0, 0, tree):
                return self.unanchored(tree)
            case ((sre.MAX_REPEAT | sre.MIN_REPEAT), (least, most, tree)):
                item = self.unanchored(tree)
                return Repeat(item, least, None if most is sre.MAXREPEAT else most) if most and item != EMPTY else EMPTY
            case sre.AT, _:
                raise PatternError("an anchor within it can't be enforced")
        raise PatternError(f"{str(op).lower().replace('_', ' ')} can't be enforced")


def _chars(op: Any, value: Any, sets: _Sets = _ECMASCRIPT) -> Ranges | None:
    """Returns the set of characters if the node matches a single character; otherwise None."""
    match op:
        case sre.LITERAL:
            return ranges.common(((value, value),), ANY)
        case sre.NOT_LITERAL:
            return ranges.without(ANY, ((value, value),))
        case sre.ANY:
            return ranges.without(ANY, _LINE_ENDS)
        case sre.IN:
            negated = value[0][0] is sre.NEGATE
            chars = ranges.union(
                pair for kind, member in value[negated:] for pair in _in_set(kind, member, sets, negated=negated)
            )
            return ranges.without(ANY, chars) if negated else ranges.common(chars, ANY)
    return None


def _in_set(op: Any, value: Any, sets: _Sets, *, negated: bool) -> Ranges:
    match op:
        case sre.LITERAL:
            return ((value, value),)
        case sre.RANGE:
            return (value,)
        case sre.CATEGORY:
            return sets.of(value, negated=negated)
    raise PatternError(f"{str(op).lower()} can't be enforced")
