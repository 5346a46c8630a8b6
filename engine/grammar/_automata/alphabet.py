"""Derivatives of expressions by sets of characters that they don't tell apart."""

from collections.abc import Iterable
from itertools import pairwise

from specvino.engine.grammar._automata.expressions import Expression, Expressions, Kind, operands
from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges

_DIGITS = [ranges.of(digit) for digit in "0123456789"]
_POINT = ranges.of(".")


class Alphabet:
    """The sets of characters that a language doesn't tell apart, and the derivatives by them. A set of such sets is an
    integer with one bit for each.
    """

    def __init__(self, expressions: Expressions, root: Expression) -> None:
        self._expressions = expressions
        sets = _sets(expressions, root)
        self.atoms = _atoms(sets)
        self._all = (1 << len(self.atoms)) - 1
        self._masks: dict[Ranges, int] = {}
        self._classes: dict[Expression, tuple[int, ...]] = {}
        self._derived: dict[tuple[Expression, int], Expression] = {}

    def chars(self, mask: int) -> Ranges:
        """Returns the characters of a set of atoms."""
        return ranges.union(pair for index, atom in enumerate(self.atoms) if mask >> index & 1 for pair in atom)

    def steps(self, expression: Expression) -> dict[Expression, int]:
        """Returns the derivatives of an expression other than `none`, with the atoms that lead to each."""
        steps: dict[Expression, int] = {}
        for mask in self._classes_of(expression):
            target = self._derivative(expression, (mask & -mask).bit_length() - 1)
            if target != self._expressions.none:
                steps[target] = steps.get(target, 0) | mask
        return steps

    def _mask(self, chars: Ranges) -> int:
        mask = self._masks.get(chars)
        if mask is None:
            mask = 0
            for index, atom in enumerate(self.atoms):
                if any(low <= atom[0][0] <= high for low, high in chars):
                    mask |= 1 << index
            self._masks[chars] = mask
        return mask

    def _classes_of(self, expression: Expression) -> tuple[int, ...]:
        """Returns a partition of the atoms, within whose sets all derivatives are the same."""
        known = self._classes.get(expression)
        if known is None:
            known = self._classes[expression] = tuple(self._partition(expression))
        return known

    def _partition(self, expression: Expression) -> Iterable[int]:
        match self._expressions.parts(expression):
            case (Kind.CHARS, chars):
                mask = self._mask(chars)
                return [part for part in (mask, self._all & ~mask) if part]
            case (Kind.SEQUENCE, first, rest):
                return self._refined((first, rest) if self._expressions.nullable(first) else (first,))
            case (Kind.CHOICE | Kind.BOTH, *parts):
                return self._refined(parts)
            case (Kind.NOT, inner) | (Kind.REPEAT, inner, _, _):
                return self._classes_of(inner)
            case (Kind.MULTIPLES, *_):
                known = [self._mask(chars) for chars in (*_DIGITS, _POINT)]
                return [*known, self._all & ~sum(known)]
        return (self._all,)

    def _refined(self, parts: Iterable[Expression]) -> Iterable[int]:
        classes: Iterable[int] = (self._all,)
        for partition in {self._classes_of(part) for part in parts}:
            classes = {common for one in classes for other in partition if (common := one & other)}
        return sorted(classes)

    def _derivative(self, expression: Expression, atom: int) -> Expression:
        key = (expression, atom)
        known = self._derived.get(key)
        if known is None:
            known = self._derived[key] = self._derive(expression, atom)
        return known

    def _derive(self, expression: Expression, atom: int) -> Expression:
        e = self._expressions
        match e.parts(expression):
            case (Kind.CHARS, chars):
                return e.empty if self._mask(chars) >> atom & 1 else e.none
            case (Kind.SEQUENCE, first, rest):
                continued = e.sequence(self._derivative(first, atom), rest)
                return e.choice(continued, self._derivative(rest, atom)) if e.nullable(first) else continued
            case (Kind.CHOICE, *options):
                return e.choice(*(self._derivative(option, atom) for option in options))
            case (Kind.BOTH, *parts):
                return e.both(*(self._derivative(part, atom) for part in parts))
            case (Kind.NOT, inner):
                return e.complement(self._derivative(inner, atom))
            case (Kind.REPEAT, item, least, most):
                rest = e.repeat(item, max(least - 1, 0), None if most is None else most - 1)
                return e.sequence(self._derivative(item, atom), rest)
            case (Kind.MULTIPLES, step, scale, remainder, fraction):
                char = chr(self.atoms[atom][0][0])
                if char == "." and not fraction:
                    return e.multiples(step, scale, remainder, fraction=True)
                if char.isdecimal() and char.isascii() and (scale or not fraction):
                    left = scale - fraction
                    return e.multiples(step, left, (remainder * 10 + int(char)) % step, fraction=fraction)
        return e.none


def _sets(expressions: Expressions, root: Expression) -> set[Ranges]:
    """Returns the sets of characters in an expression."""
    sets: set[Ranges] = set()
    seen: set[Expression] = set()
    left = [root]
    while left:
        number = left.pop()
        if number in seen:
            continue
        seen.add(number)
        parts = expressions.parts(number)
        if parts[0] is Kind.CHARS:
            sets.add(parts[1])
        elif parts[0] is Kind.MULTIPLES:
            sets.update(_DIGITS, (_POINT,))
        left += operands(parts)
    return sets


def _atoms(sets: Iterable[Ranges]) -> list[Ranges]:
    """Returns the largest sets of characters that each of the sets contains either whole or not at all."""
    numbered = list(enumerate((ANY, *sets)))
    edges: dict[int, int] = {}
    for index, chars in numbered:
        for low, high in chars:
            for edge in (low, high + 1):
                edges[edge] = edges.get(edge, 0) ^ (1 << index)
    atoms: dict[int, list[tuple[int, int]]] = {}
    member = 0
    points = sorted(edges)
    for point, following in pairwise(points):
        member ^= edges[point]
        if member & 1:
            atoms.setdefault(member, []).append((point, following - 1))
    return [ranges.union(pairs) for pairs in atoms.values()]
