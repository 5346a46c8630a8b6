"""Regular expressions of ECMAScript and Python as nodes of a grammar."""

import re
import warnings
from collections.abc import Callable
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
_CATEGORIES = {
    sre.CATEGORY_DIGIT: _DIGITS,
    sre.CATEGORY_NOT_DIGIT: ranges.without(ANY, _DIGITS),
    sre.CATEGORY_WORD: _WORD,
    sre.CATEGORY_NOT_WORD: ranges.without(ANY, _WORD),
    sre.CATEGORY_SPACE: _SPACE,
    sre.CATEGORY_NOT_SPACE: ranges.without(ANY, _SPACE),
}
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
        if len(expression) > LONGEST:
            raise PatternError(f"it has {len(expression)} characters; at most {LONGEST} are accepted")
        self.expression = expression
        source = _NAMED_GROUP.sub("(?P<", _REWRITTEN.get(expression, expression))
        try:
            with warnings.catch_warnings(action="ignore"):
                parsed = sre_parser.parse(source)
        except (re.error, RecursionError, OverflowError) as error:
            raise PatternError(f"it can't be parsed: {error}") from None
        if parsed.state.flags & ~re.UNICODE:
            raise PatternError("flags can't be enforced")
        self._tree = list(parsed)
        if (count := places(self.node())) > MOST_PLACES:
            raise PatternError(
                f"with its repetitions written out it has {count} characters; at most {MOST_PLACES} can be enforced"
            )

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


class _Builder:
    def __init__(self, char: CharNode) -> None:
        self._char = char

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
        inner = self._all(tree[: len(tree) - ended])
        return sequence(EMPTY if started else anything, inner, EMPTY if ended else anything)

    def _all(self, tree: Any) -> Node:
        return sequence(*(self._one(op, value) for op, value in tree))

    def _one(self, op: Any, value: Any) -> Node:
        if (chars := _chars(op, value)) is not None:
            if not chars:
                raise PatternError("it has an empty set of characters")
            return self._char(chars)
        match op, value:
            case sre.BRANCH, (None, branches):
                return choice(*(self._all(branch) for branch in branches))
            case sre.SUBPATTERN, (_, 0, 0, tree):
                return self._all(tree)
            case ((sre.MAX_REPEAT | sre.MIN_REPEAT), (least, most, tree)):
                item = self._all(tree)
                return Repeat(item, least, None if most is sre.MAXREPEAT else most) if most and item != EMPTY else EMPTY
            case sre.AT, _:
                raise PatternError("an anchor within it can't be enforced")
        raise PatternError(f"{str(op).lower().replace('_', ' ')} can't be enforced")


def _chars(op: Any, value: Any) -> Ranges | None:
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
            chars = ranges.union(pair for item in value[negated:] for pair in _in_set(*item))
            return ranges.without(ANY, chars) if negated else ranges.common(chars, ANY)
    return None


def _in_set(op: Any, value: Any) -> Ranges:
    match op:
        case sre.LITERAL:
            return ((value, value),)
        case sre.RANGE:
            return (value,)
        case sre.CATEGORY:
            return _CATEGORIES[value]
    raise PatternError(f"{str(op).lower()} can't be enforced")
