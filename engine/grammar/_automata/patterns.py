"""Regular expressions of ECMAScript and Python as expressions with intersection, and as nodes of a grammar."""

import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from re import _constants as sre  # type: ignore[attr-defined, unused-ignore]
from re import _parser as sre_parser  # type: ignore[attr-defined, unused-ignore]
from typing import Any

from specvino.engine.grammar._automata.expressions import Expression, Expressions, PatternError
from specvino.engine.grammar._automata.rules import written_out
from specvino.engine.grammar._automata.unicode_properties import characters
from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.nodes import CharNode, Node
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges

LONGEST = 4096  # characters

# A repetition with a lookahead or an anchor in it is written out.
MOST_REPEATED = 16

_DIGITS = ranges.of("0123456789")
_WORD = ranges.union([(48, 57), (65, 90), (95, 95), (97, 122)])
_SPACE = ranges.of(
    " \t\n\r\v\f\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
)
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

# The properties of Unicode, and other escapes, in which nothing is replaced.
_PROPERTY = re.compile(r"\\(?:([pP])\{([^}]*)\}|.)", re.DOTALL)

# A property is a character of the end of the last private area while `re` parses; patterns can't have these themselves.
_FIRST_PLACEHOLDER = 0x10FE00
_RESERVED = re.compile(r"[\U0010fe00-\U0010ffff]|\\U0010[fF][eEfF]")
_placeholders: dict[tuple[str, str], int] = {}

_NAMED_GROUP = re.compile(r"\(\?<(?=[A-Za-z_])")
_STARTS = (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
_ENDS = (sre.AT_END, sre.AT_END_STRING)

_ASSERTIONS = (sre.AT, sre.ASSERT, sre.ASSERT_NOT)

Tree = list[tuple[Any, Any]]
"""The parse result of `re`: operators and their operands."""


def searched(expressions: Expressions, pattern: str, *, excluded: bool = False) -> Expression:
    """Returns the texts in which an expression of ECMAScript matches, anywhere unless it has anchors. Where dialects
    differ, they are those in which it surely matches; if `excluded`, all in which it may. Raises PatternError.
    """

    def translated() -> Expression:
        if _RESERVED.search(pattern):
            raise PatternError("characters from U+10FE00 on can't be enforced")
        tree = _parsed(_NAMED_GROUP.sub("(?P<", _PROPERTY.sub(_placeholder, pattern)))
        return _Translation(expressions, _ECMASCRIPT, excluded=excluded).searched(tree)

    return expressions.once((pattern, excluded), translated)


def _placeholder(match: re.Match[str]) -> str:
    """Returns the character that stands for a Unicode property, which `re` doesn't know, in the expression."""
    kind, name = match.groups()
    if name is None:
        return match[0]
    name = name.removeprefix("General_Category=").removeprefix("gc=")
    if characters(name, excluded=False) is None:
        raise PatternError(f"the property {name} isn't known")
    if (kind, name) not in _placeholders:
        _placeholders[kind, name] = _FIRST_PLACEHOLDER + len(_placeholders)
    return chr(_placeholders[kind, name])


def terminal(pattern: str, char: CharNode) -> Node:
    """Returns the node of the texts that an expression of Python's `re` matches as a whole. Raises PatternError."""
    tree = _parsed(pattern)
    if _asserts(tree):
        raise PatternError("lookarounds and anchors can't be enforced")
    expressions = Expressions()
    return written_out(expressions, _Translation(expressions, _PYTHON).plain(tree), char)


def _parsed(expression: str) -> Tree:
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


def _asserts(tree: Any, kinds: tuple[Any, ...] = _ASSERTIONS, positions: tuple[Any, ...] = ()) -> bool:
    """Returns whether a tree, or a part of it, has an assertion of these kinds, and for anchors of these positions."""
    for op, value in tree:
        if op in kinds and (not positions or value in positions):
            return True
        match op, value:
            case sre.BRANCH, (None, branches):
                inner = branches
            case (sre.SUBPATTERN, (_, _, _, one)) | ((sre.MAX_REPEAT | sre.MIN_REPEAT), (_, _, one)):
                inner = [one]
            case _:
                continue
        if any(_asserts(part, kinds, positions) for part in inner):
            return True
    return False


def _starts(tree: Any) -> bool:
    return _asserts(tree, (sre.AT,), _STARTS)


class _Translation:
    """A tree is translated from its end: an assertion concerns all of the text after it, so what follows a part must be
    known first.
    """

    def __init__(self, expressions: Expressions, sets: _Sets, *, excluded: bool = False) -> None:
        self._e = expressions
        self._sets = sets
        self._negated = excluded

    def searched(self, tree: Any) -> Expression:
        """Returns the texts in which the tree matches."""
        e = self._e
        if not _starts(tree):
            return e.sequence(e.anything, self._before(tree, e.anything, started=False))
        later = e.sequence(e.any_char, e.anything, self._before(tree, e.anything, started=False))
        return e.choice(self._before(tree, e.anything, started=True), later)

    def plain(self, tree: Any) -> Expression:
        """Returns the expression of a tree without assertions."""
        return self._e.sequence(*(self._one(op, value) for op, value in tree))

    def _before(self, tree: Any, rest: Expression, *, started: bool) -> Expression:
        """Returns the texts that match the tree and continue with `rest`. `started` means that the tree begins at the
        start of the text.
        """
        e = self._e
        plain = next((index for index, part in enumerate(tree) if _asserts([part])), len(tree))
        if plain:
            return self._after_plain(self.plain(tree[:plain]), tree[plain:], rest, started=started)
        if not tree:
            return rest
        (op, value), others = tree[0], tree[1:]
        match op, value:
            case sre.AT, position if position in _STARTS:
                return self._before(others, rest, started=True) if started else e.none
            case sre.AT, position if position in _ENDS:
                return e.both(self._before(others, rest, started=started), e.empty)
            case sre.ASSERT, (1, inner):
                ahead = self._before(inner, e.anything, started=started)
                return e.both(ahead, self._before(others, rest, started=started))
            case sre.ASSERT_NOT, (1, inner):
                self._negated = not self._negated
                ahead = self._before(inner, e.anything, started=started)
                self._negated = not self._negated
                return e.both(e.complement(ahead), self._before(others, rest, started=started))
        if started and _starts(others):
            raise PatternError("an anchor within it can't be enforced")
        return self._asserting(op, value, self._before(others, rest, started=False), started=started)

    def _after_plain(self, first: Expression, tree: Any, rest: Expression, *, started: bool) -> Expression:
        """Returns texts of an expression, and then of the tree, which begins at the start only after an empty text."""
        e = self._e
        later = self._before(tree, rest, started=False)
        if not (started and e.nullable(first) and _starts(tree)):
            return e.sequence(first, later)
        filled = e.both(first, e.complement(e.empty))
        return e.choice(self._before(tree, rest, started=True), e.sequence(filled, later))

    def _asserting(self, op: Any, value: Any, after: Expression, *, started: bool) -> Expression:
        """Returns a part with assertions in it, and what follows."""
        e = self._e
        match op, value:
            case sre.BRANCH, (None, branches):
                return e.choice(*(self._before(branch, after, started=started) for branch in branches))
            case sre.SUBPATTERN, (_, 0, 0, tree):
                return self._before(tree, after, started=started)
            case ((sre.MAX_REPEAT | sre.MIN_REPEAT), (least, most, tree)) if most <= MOST_REPEATED and not _starts(
                tree
            ):
                texts = after
                for _ in range(most - least):
                    texts = e.choice(after, self._before(tree, texts, started=False))
                for _ in range(least):
                    texts = self._before(tree, texts, started=False)
                return texts
        raise PatternError(f"{_name(op)} with an anchor or a lookaround in it can't be enforced")

    def _one(self, op: Any, value: Any) -> Expression:
        e = self._e
        if self._negated and _has_property(op, value):
            raise PatternError("a property of Unicode in a negative lookahead or an excluded pattern can't be enforced")
        if op is sre.ANY and self._negated:  # what ECMAScript's own `.` excludes, others' includes
            return e.chars(ranges.without(ANY, ranges.of("\n")))
        if (chars := _chars(op, value, self._sets)) is not None:
            if not chars:
                raise PatternError("it has an empty set of characters")
            return e.chars(chars)
        match op, value:
            case sre.BRANCH, (None, branches):
                return e.choice(*map(self.plain, branches))
            case sre.SUBPATTERN, (_, 0, 0, tree):
                return self.plain(tree)
            case ((sre.MAX_REPEAT | sre.MIN_REPEAT), (least, most, tree)):
                return e.repeat(self.plain(tree), least, None if most is sre.MAXREPEAT else most)
        raise PatternError(f"{_name(op)} can't be enforced")


def _name(op: Any) -> str:
    return str(op).lower().replace("_", " ")


def _chars(op: Any, value: Any, sets: _Sets) -> Ranges | None:
    """Returns the set of characters if the node matches a single character; otherwise None."""
    match op:
        case sre.LITERAL if value >= _FIRST_PLACEHOLDER:
            return _property(value, negated=False)
        case sre.LITERAL:
            return ranges.common(((value, value),), ANY)
        case sre.NOT_LITERAL if value >= _FIRST_PLACEHOLDER:
            return ranges.without(ANY, _property(value, negated=True))
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
        case sre.LITERAL if value >= _FIRST_PLACEHOLDER:
            return _property(value, negated=negated)
        case sre.LITERAL:
            return ((value, value),)
        case sre.RANGE:
            return (value,)
        case sre.CATEGORY:
            return sets.of(value, negated=negated)
    raise PatternError(f"{str(op).lower()} can't be enforced")


def _has_property(op: Any, value: Any) -> bool:
    match op:
        case sre.LITERAL | sre.NOT_LITERAL:
            return bool(value >= _FIRST_PLACEHOLDER)
        case sre.IN:
            return any(_has_property(*member) for member in value)
    return False


def _property(placeholder: int, *, negated: bool) -> Ranges:
    """Returns the characters of a property; of a negated set, those that are excluded."""
    kind, name = next((key for key, code in _placeholders.items() if code == placeholder), ("", ""))
    chars = characters(name, excluded=negated == (kind == "p"))
    if chars is None:
        raise PatternError(f"the characters without the property {name} aren't known")
    return chars if kind == "p" else ranges.without(ANY, chars)
