"""Regular expressions with intersection and complement, and their derivatives.

The derivative of a language by a character is the set of the rests of its texts that begin with the character. Sums,
products and repetitions of expressions have derivatives that are expressions again, and so have intersections and
complements, so lookaheads and several constraints need no construction of their own. See Owens, Reppy and Turon,
"Regular-expression derivatives re-examined", Journal of Functional Programming 19 (2009).
"""

from collections.abc import Callable, Hashable, Iterable
from enum import Enum, auto
from typing import Any

from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges


class PatternError(ValueError):
    """No grammar can express a regular expression, or it is invalid; `str()` is the reason."""


class TooLarge(PatternError):
    """An expression or its automaton exceeds a limit."""


Expression = int
"""The number of an expression within its `Expressions`; equal numbers are equal expressions."""

# A derivative takes a few new expressions: at this number it has taken a second of CPU time.
MOST_EXPRESSIONS = 200_000


class Kind(Enum):
    """The operators. A `CHARS` has the set of its characters, a `SEQUENCE` two parts, a `CHOICE` and a `BOTH` several,
    a `NOT` one, a `REPEAT` a part and its bounds, and `MULTIPLES` what `Expressions.multiples` has."""

    NONE = auto()
    EMPTY = auto()
    CHARS = auto()
    SEQUENCE = auto()
    CHOICE = auto()
    BOTH = auto()
    NOT = auto()
    REPEAT = auto()
    MULTIPLES = auto()


class Expressions:
    """A table of expressions. The methods return simplified ones, so that a language has finitely many derivatives.
    They raise TooLarge if there are too many. `states` counts those of all automata that were made of expressions, and
    `open_places` those of their rules."""

    def __init__(self) -> None:
        self.states = 0
        self.open_places = 0
        self._known: dict[Hashable, Expression] = {}
        self._numbers: dict[tuple[Any, ...], Expression] = {}
        self._parts: list[tuple[Any, ...]] = []
        self._nullable: list[bool] = []
        self._intersects: list[bool] = []
        self._lengths: list[tuple[int, int | None]] = []
        self._counts: dict[Expression, tuple[int, int | None]] = {}  # the repetitions of any character
        self.none = self._add(Kind.NONE, nullable=False)
        self.empty = self._add(Kind.EMPTY, nullable=True)
        self.any_char = self.chars(ANY)
        self.anything = self.repeat(self.any_char, 0, None)

    def once(self, key: Hashable, make: Callable[[], Expression]) -> Expression:
        """Returns the expression with this key, which is made on first use."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def parts(self, expression: Expression) -> tuple[Any, ...]:
        """Returns the kind of an expression, and what the kind has."""
        return self._parts[expression]

    def nullable(self, expression: Expression) -> bool:
        """Returns whether the empty text is in the language."""
        return self._nullable[expression]

    def multiples(self, step: int, scale: int, remainder: int = 0, *, fraction: bool = False) -> Expression:
        """Returns the digits of the multiples of `step` units of the digit at `scale` after the point: 25 and 2 for
        multiples of 0.25. Fewer digits may follow the point, and there may be leading zeros. `remainder` is the one of
        the digits before, and `fraction` means that the point is among these.
        """
        nullable = remainder * 10**scale % step == 0
        return self._add(Kind.MULTIPLES, step, scale, remainder, fraction, nullable=nullable)

    def lengths(self, expression: Expression) -> tuple[int, int | None]:
        """Returns bounds of the number of characters of all texts; None is no upper bound."""
        return self._lengths[expression]

    def intersects(self, expression: Expression) -> bool:
        """Returns whether an expression needs an automaton, as an intersection, a complement and multiples do."""
        return self._intersects[expression]

    def chars(self, chars: Ranges) -> Expression:
        """Returns the texts of one character of a set."""
        return self._add(Kind.CHARS, chars, nullable=False) if chars else self.none

    def text(self, text: str) -> Expression:
        """Returns the language of this text alone."""
        return self.sequence(*(self.chars(ranges.of(char)) for char in text))

    def sequence(self, *parts: Expression) -> Expression:
        """Returns the texts that consist of texts of the parts, in this order."""
        rest = self.empty
        for part in reversed(parts):
            rest = self._joined(part, rest)
        return rest

    def _joined(self, first: Expression, rest: Expression) -> Expression:
        if self.none in (first, rest):
            return self.none
        if first == self.empty:
            return rest
        if rest == self.empty:
            return first
        match self._parts[first]:
            case (Kind.SEQUENCE, head, tail):
                return self._joined(head, self._joined(tail, rest))
        return self._add(Kind.SEQUENCE, first, rest, nullable=self._nullable[first] and self._nullable[rest])

    def choice(self, *options: Expression) -> Expression:
        """Returns the texts of all options."""
        flat = self._flat(Kind.CHOICE, options)
        flat.discard(self.none)
        if self.anything in flat:
            return self.anything
        if self.empty in flat and any(self._nullable[option] for option in flat - {self.empty}):
            flat.remove(self.empty)
        if len(sets := self._of_kind(Kind.CHARS, flat)) > 1:
            joined = ranges.union(pair for number in sets for pair in self._parts[number][1])
            flat = (flat - sets) | {self.chars(joined)}
        if len(flat) < 2:
            return flat.pop() if flat else self.none
        return self._add(Kind.CHOICE, *sorted(flat), nullable=any(self._nullable[option] for option in flat))

    def both(self, *parts: Expression) -> Expression:
        """Returns the texts that all parts have in common."""
        flat = self._flat(Kind.BOTH, parts)
        flat.discard(self.anything)
        if not flat:
            return self.anything
        if self.none in flat:
            return self.none
        nullable = all(self._nullable[part] for part in flat)
        if self.empty in flat:
            return self.empty if nullable else self.none
        repeated = [(number, self.repeated_char(number)) for number in flat]
        if len(simple := {number: of for number, of in repeated if of is not None}) > 1:
            flat = (flat - simple.keys()) | {self._common(list(simple.values()))}
            return self.both(*flat)
        if len(flat) == 1:
            return flat.pop()
        for counted in [number for number in flat if number in self._counts]:
            least, most = self._counts[counted]
            others = flat - {counted}
            shortest = max(self._lengths[part][0] for part in others)
            longest = min((length for part in others if (length := self._lengths[part][1]) is not None), default=None)
            if (most is not None and shortest > most) or (longest is not None and least > longest):
                return self.none
            least = 0 if shortest >= least else least
            most = None if longest is not None and most is not None and longest <= most else most
            if (least, most) != self._counts[counted]:
                return self.both(*others, self.repeat(self.any_char, least, most))
        return self._add(Kind.BOTH, *sorted(flat), nullable=nullable)

    def complement(self, expression: Expression) -> Expression:
        """Returns all texts that aren't in the language."""
        if expression == self.none:
            return self.anything
        if expression == self.anything:
            return self.none
        match self._parts[expression]:
            case (Kind.NOT, inner):
                return int(inner)
        return self._add(Kind.NOT, expression, nullable=not self._nullable[expression])

    def repeat(self, item: Expression, least: int, most: int | None) -> Expression:
        """Returns `least` to `most` texts of the item (None: any number of them)."""
        if item == self.none:
            return self.none if least else self.empty
        if most == 0 or item == self.empty:
            return self.empty
        if self._nullable[item]:
            least = 0
        if (least, most) == (1, 1):
            return item
        match self._parts[item]:
            case (Kind.REPEAT, inner, 0, inner_most):
                return self.repeat(inner, 0, None if None in (inner_most, most) else inner_most * most)
        number = self._add(Kind.REPEAT, item, least, most, nullable=least == 0)
        if item == self.any_char:
            self._counts[number] = (least, most)
        return number

    def without_most(self, expression: Expression) -> tuple[Expression, int | None]:
        """Returns an expression without the upper bound that it sets for all of its texts, and this bound."""
        match self._parts[expression]:
            case (Kind.BOTH, *parts):
                for part in parts:
                    least, most = self._counts.get(part, (0, None))
                    if most is not None:
                        others = [other for other in parts if other != part]
                        return self.both(*others, self.repeat(self.any_char, least, None)), most
        return expression, None

    def narrowed(self, expression: Expression, most: int) -> Expression:
        """Returns an expression of fewer texts: those in which nothing with an upper bound is repeated more often than
        `most` times, or than necessary."""
        match self._parts[expression]:
            case (Kind.SEQUENCE, first, rest):
                return self.sequence(self.narrowed(first, most), self.narrowed(rest, most))
            case (Kind.CHOICE, *options):
                return self.choice(*(self.narrowed(option, most) for option in options))
            case (Kind.BOTH, *parts):
                return self.both(*(self.narrowed(part, most) for part in parts))
            case (Kind.REPEAT, item, least, upper) if upper is not None:
                return self.repeat(self.narrowed(item, most), least, max(least, min(upper, most)))
            case (Kind.REPEAT, item, least, None):
                return self.repeat(self.narrowed(item, most), least, None)
        return expression

    def repeated_char(self, expression: Expression) -> tuple[Ranges, int, int | None] | None:
        """Returns the set and the bounds of a repeated character; None for any other expression."""
        match self._parts[expression]:
            case (Kind.CHARS, chars):
                return chars, 1, 1
            case (Kind.REPEAT, item, least, most) if self._parts[item][0] is Kind.CHARS:
                return self._parts[item][1], least, most
        return None

    def _lengths_of(self, parts: tuple[Any, ...]) -> tuple[int, int | None]:
        match parts:
            case (Kind.CHARS, _):
                return 1, 1
            case (Kind.SEQUENCE, first, rest):
                (least, most), (other_least, other_most) = self._lengths[first], self._lengths[rest]
                return least + other_least, None if most is None or other_most is None else most + other_most
            case (Kind.CHOICE, *options):
                longest = [self._lengths[option][1] for option in options]
                most = None if None in longest else max(filter(None, longest), default=0)
                return min(self._lengths[option][0] for option in options), most
            case (Kind.BOTH, *options):
                longest = [self._lengths[option][1] for option in options]
                most = min((length for length in longest if length is not None), default=None)
                return max(self._lengths[option][0] for option in options), most
            case (Kind.REPEAT, item, times, most_times):
                least, most = self._lengths[item]
                return least * times, None if most is None or most_times is None else most * most_times
            case (Kind.EMPTY,):
                return 0, 0
        return 0, None

    def _common(self, repeated: list[tuple[Ranges, int, int | None]]) -> Expression:
        chars, least, most = repeated[0]
        for other, other_least, other_most in repeated[1:]:
            chars = ranges.common(chars, other)
            least = max(least, other_least)
            most = min((bound for bound in (most, other_most) if bound is not None), default=None)
        if most is not None and least > most:
            return self.none
        return self.repeat(self.chars(chars), least, most)

    def _flat(self, kind: Kind, parts: Iterable[Expression]) -> set[Expression]:
        flat: set[Expression] = set()
        for part in parts:
            own, *inner = self._parts[part]
            flat.update(inner if own is kind else (part,))
        return flat

    def _of_kind(self, kind: Kind, expressions: Iterable[Expression]) -> set[Expression]:
        return {number for number in expressions if self._parts[number][0] is kind}

    def _add(self, kind: Kind, *parts: Any, nullable: bool) -> Expression:
        key = (kind, *parts)
        number = self._numbers.get(key)
        if number is None:
            if len(self._parts) >= MOST_EXPRESSIONS:
                raise TooLarge(f"it has more than {MOST_EXPRESSIONS} expressions")
            number = self._numbers[key] = len(self._parts)
            self._parts.append(key)
            self._nullable.append(nullable)
            self._lengths.append(self._lengths_of(key))
            intersects = kind in (Kind.BOTH, Kind.NOT, Kind.MULTIPLES)
            self._intersects.append(intersects or any(self._intersects[part] for part in operands(key)))
        return number


def operands(parts: tuple[Any, ...]) -> tuple[Expression, ...]:
    """Returns the expressions of which an expression consists."""
    match parts:
        case (Kind.CHARS | Kind.MULTIPLES, *_):
            return ()
        case (Kind.REPEAT, item, _, _):
            return (item,)
    return parts[1:]
