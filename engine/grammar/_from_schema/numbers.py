"""Numbers of a schema as nodes: integers and decimals between bounds."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from specvino.engine.grammar._automata.expressions import Expressions, PatternError, TooLarge
from specvino.engine.grammar._automata.rules import read, texts
from specvino.engine.grammar._ebnf.nodes import EMPTY, Chars, Grammar, Node, Repeat, Sequence, Text, choice, sequence
from specvino.engine.grammar._errors import Path, Unsatisfiable
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._from_schema.json_text import DIGIT, MOST_DIGITS
from specvino.engine.grammar._json_schema import Conjunction, Subschema

# The maximum number of multiples that are listed.
MOST_MULTIPLES = 1000

# An automaton has a state for each remainder.
MOST_STEP = 1000

_FRACTION_DIGITS = 6  # beyond those of the bounds


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a number. `low` and `high` are inclusive unless they are open; None is no bound."""

    low: Decimal | None = None
    high: Decimal | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def contains(self, value: Decimal) -> bool:
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = self.high is None or value < self.high or (value == self.high and not self.high_open)
        return above and below


def integers(bounds: Bounds, most_digits: int = MOST_DIGITS) -> Node | None:
    """Returns the integers between bounds; None if there are none. Without a bound, they have at most `most_digits`
    digits, or one digit more than the other bound."""
    return _between(_lowest(bounds), _highest(bounds), most_digits)


def numbers(bounds: Bounds, digits: int | None = None, most_digits: int = MOST_DIGITS) -> Node | None:
    """Returns the decimal numbers between bounds with at most `digits` digits after the point, without exponent; None
    if there are none. By default, there are a few digits more than those of the bounds."""
    if digits is None:
        digits = _FRACTION_DIGITS + max(_digits(bounds.low), _digits(bounds.high))
    if bounds.empty:
        return None
    parts = []
    if bounds.high is None or bounds.high > 0 or (bounds.high == 0 and not bounds.high_open):
        low = Bounds(Decimal(0)) if bounds.low is None or bounds.low < 0 else bounds
        positive = Bounds(low.low, bounds.high, low.low_open, bounds.high_open)
        parts.append(_positive(positive, digits, most_digits))
    if bounds.low is None or bounds.low < 0:
        upper = Bounds(Decimal(0), low_open=True)
        if bounds.high is not None and bounds.high < 0:
            upper = Bounds(-bounds.high, low_open=bounds.high_open)
        far = None if bounds.low is None else -bounds.low
        mirrored = _positive(Bounds(upper.low, far, upper.low_open, bounds.low_open), digits, most_digits)
        parts.append(mirrored and sequence(Text("-"), mirrored))
    options = [part for part in parts if part is not None]
    return choice(*options) if options else None


def _digits(bound: Decimal | None) -> int:
    return 0 if bound is None else max(0, -int(bound.normalize().as_tuple().exponent))


def _lowest(bounds: Bounds) -> int | None:
    if bounds.low is None:
        return None
    up = int(bounds.low.to_integral_value("ROUND_CEILING"))
    return up + 1 if bounds.low_open and up == bounds.low else up


def _highest(bounds: Bounds) -> int | None:
    if bounds.high is None:
        return None
    down = int(bounds.high.to_integral_value("ROUND_FLOOR"))
    return down - 1 if bounds.high_open and down == bounds.high else down


def _between(low: int | None, high: int | None, most_digits: int) -> Node | None:
    if low is None:
        low = -max(10**most_digits - 1, abs(high or 0) * 10)
    if high is None:
        high = max(10**most_digits - 1, abs(low) * 10)
    if low > high:
        return None
    parts = []
    if high >= 0:
        parts.append(_natural(max(low, 0), high))
    if low < 0:
        parts.append(sequence(Text("-"), _natural(max(-high, 1), -low)))
    return choice(*parts)


def _natural(low: int, high: int) -> Node:
    parts = []
    while len(str(low)) < len(str(high)):
        end = 10 ** len(str(low)) - 1
        parts.append(_same_length(str(low), str(end)))
        low = end + 1
    return choice(*parts, _same_length(str(low), str(high)))


def _same_length(low: str, high: str) -> Node:
    if not low:
        return EMPTY
    rest = len(low) - 1
    if low[0] == high[0]:
        return sequence(Text(low[0]), _same_length(low[1:], high[1:]))
    first, last = int(low[0]), int(high[0])
    parts = []
    if low[1:].strip("0"):
        parts.append(sequence(Text(low[0]), _same_length(low[1:], "9" * rest)))
        first += 1
    end = None
    if high[1:].strip("9"):
        end = sequence(Text(high[0]), _same_length("0" * rest, high[1:]))
        last -= 1
    if first <= last:
        parts.append(sequence(_digit(first, last), _any_digits(rest, rest)))
    return choice(*parts, *([end] if end else []))


def _digit(first: int, last: int) -> Node:
    return Chars(((48 + first, 48 + last),))


def _any_digits(least: int, most: int) -> Node:
    return Repeat(DIGIT, least, most) if most > 0 else EMPTY


def _positive(bounds: Bounds, digits: int, most_digits: int) -> Node | None:
    """Returns numbers with at most `digits` digits after the point, between bounds of which the lower is at least 0."""
    assert bounds.low is not None
    low_whole, low_part = _split(bounds.low, digits)
    whole_end = _between(low_whole + 1, None, most_digits)
    if bounds.high is None:
        parts = [_fraction(low_part, None, bounds, digits, low_whole), sequence(_some(whole_end), _any_part(digits))]
    else:
        high_whole, high_part = _split(bounds.high, digits)
        if low_whole == high_whole:
            parts = [_fraction(low_part, high_part, bounds, digits, low_whole)]
        else:
            parts = [
                _fraction(low_part, None, bounds, digits, low_whole),
                _fraction(None, high_part, bounds, digits, high_whole),
            ]
            if (between := _between(low_whole + 1, high_whole - 1, most_digits)) is not None:
                parts.append(sequence(between, _any_part(digits)))
    options = [part for part in parts if part is not None]
    return choice(*options) if options else None


def _some(node: Node | None) -> Node:
    assert node is not None
    return node


def _split(bound: Decimal, digits: int) -> tuple[int, str]:
    """Returns the integer part, and the digits after the point."""
    whole = int(bound)
    part = f"{bound - whole:.{digits}f}".partition(".")[2]
    return whole, part


def _any_part(digits: int) -> Node:
    return Repeat(Sequence((Text("."), _any_digits(1, digits))), 0, 1) if digits else EMPTY


def _fraction(low: str | None, high: str | None, bounds: Bounds, digits: int, whole: int) -> Node | None:
    """Returns the integer part `whole`, with or without digits after the point, within bounds."""
    options: list[Node] = []
    above = low is None or (not low.strip("0") and not bounds.low_open)
    below = high is None or bool(high.strip("0")) or not bounds.high_open
    if above and below:
        options.append(EMPTY)
    tail = _tail(low, high, bounds, digits)
    if tail is not None and digits:
        options.append(sequence(Text("."), tail))
    return sequence(Text(str(whole)), choice(*options)) if options else None


def _tail(low: str | None, high: str | None, bounds: Bounds, left: int) -> Node | None:
    """Returns one to `left` digits after the point, between the digits `low` and `high` (None: no bound)."""
    options: list[Node] = []
    first = int(low[0]) if low else 0
    last = int(high[0]) if high else 9
    low_rest = low[1:] if low else None
    high_rest = high[1:] if high else None
    free_first = first if low is None else first + 1
    free_last = last if high is None else last - 1
    if free_first <= free_last:
        options.append(sequence(_digit(free_first, free_last), _any_digits(0, left - 1)))
    edges: dict[int, tuple[str | None, str | None]] = {first: (low_rest, None)} if low is not None else {}
    if high is not None:
        edges[last] = (edges[last][0] if last in edges else None, high_rest)
        if low is not None and first != last:
            edges[first] = (low_rest, None)
    for digit, (low_next, high_next) in edges.items():
        if digit < first or digit > last:
            continue
        ends = _may_end(low_next, high_next, bounds)
        more = _tail(low_next, high_next, bounds, left - 1) if left > 1 else None
        after: list[Node] = [EMPTY] if ends else []
        if more is not None:
            after.append(more)
        if after:
            options.append(sequence(Text(str(digit)), choice(*after)))
    return choice(*options) if options else None


def _may_end(low: str | None, high: str | None, bounds: Bounds) -> bool:
    above = low is None or (not low.strip("0") and not bounds.low_open)
    below = high is None or bool(high.strip("0")) or not bounds.high_open
    return above and below


_LARGEST = Decimal(10) ** 30

# No sum, multiple or quotient of bounds (floats from 1e-324 to 1e308, or integers) and steps is rounded: the default
# of 28 digits is too few.
_PRECISION = 1000


def number(
    schema: Conjunction, kind: str, grammar: Grammar, expressions: Expressions, unenforced: dict[Path, str]
) -> Node:
    """Returns the numbers that satisfy a schema. `kind` is "number" or "integer". Raises Unsatisfiable."""
    with localcontext(prec=_PRECISION):
        return _number(schema, kind, grammar, expressions, unenforced)


def _number(
    schema: Conjunction, kind: str, grammar: Grammar, expressions: Expressions, unenforced: dict[Path, str]
) -> Node:
    bounds = _bounds(schema)
    steps = [Fraction(_decimal(multiple)) for multiple in schema.values("multipleOf")]
    if kind == "integer" and steps:
        steps.append(Fraction(1))
    node: Node | None = None
    try:
        if steps:
            node = _multiples(bounds, _common_multiple(steps), grammar, expressions)
    except PatternError as error:
        for keyword in schema.all("multipleOf"):
            unenforced[keyword.path] = str(error)
        steps = []
    if not steps:
        if bounds == Bounds():
            return json_text.any_integer(grammar) if kind == "integer" else json_text.any_number(grammar)
        node = integers(bounds) if kind == "integer" else numbers(bounds)
    if node is None:
        raise Unsatisfiable(schema.parts[0].path, _nothing_between(schema))
    return node


def _nothing_between(schema: Conjunction) -> str:
    return f"no {'multiple' if schema.first('multipleOf') else 'number'} lies between its bounds"


def _common_multiple(steps: list[Fraction]) -> Fraction:
    return Fraction(lcm(*(step.numerator for step in steps)), gcd(*(step.denominator for step in steps)))


def _multiples(bounds: Bounds, step: Fraction, grammar: Grammar, e: Expressions) -> Node | None:
    """Returns the multiples of a step between bounds; None if there are none. Raises PatternError."""
    if step.numerator > _LARGEST or step.denominator > _LARGEST:
        raise PatternError("multiples of more than 30 digits can't be enforced")
    bounds = _of_multiples(bounds, step)
    if step == 1:
        return integers(bounds)
    if step.denominator == 1 and step.numerator % 10 == 0:
        return _rounded(bounds, step, grammar, e)
    digits = _digits(Decimal(step.numerator) / step.denominator)
    whole = int(step * 10**digits)
    if whole > MOST_STEP:
        return _listed_multiples(bounds, step, digits)
    if digits > MOST_DIGITS:
        raise PatternError(f"multiples of more than {MOST_DIGITS} digits after the point can't be enforced")
    multiples = e.multiples(whole, digits)
    signed = e.choice(multiples, e.sequence(e.text("-"), multiples))
    for most_digits in (MOST_DIGITS, 9, 3):
        decimals = numbers(bounds, max(digits, _digits(bounds.low), _digits(bounds.high)), most_digits)
        with suppress(TooLarge):
            return decimals and texts(grammar, e, e.both(read(e, decimals), signed), Chars, EMPTY)
    return _listed_multiples(bounds, step, digits)


def _of_multiples(bounds: Bounds, step: Fraction) -> Bounds:
    """Returns the lowest and the highest multiple between bounds, which need no more digits than the step."""
    low = None if bounds.low is None else ceil(Fraction(bounds.low) / step)
    high = None if bounds.high is None else floor(Fraction(bounds.high) / step)
    if low is not None and bounds.low_open and low * step == bounds.low:
        low += 1
    if high is not None and bounds.high_open and high * step == bounds.high:
        high -= 1
    ends = [None if n is None else Decimal(n * step.numerator) / step.denominator for n in (low, high)]
    return Bounds(ends[0], ends[1])


def _rounded(bounds: Bounds, step: Fraction, grammar: Grammar, e: Expressions) -> Node | None:
    """Returns the multiples of a step with zeros at its end, between two of them: they end with these zeros."""
    zeros = "0" * (len(str(step)) - len(str(step).rstrip("0")))
    low, high = (None if bound is None else bound.scaleb(-len(zeros)) for bound in (bounds.low, bounds.high))
    sides = (
        Bounds(Decimal(1) if low is None or low < 1 else low, high),
        Bounds(low, Decimal(-1) if high is None or high > -1 else high),
    )
    parts = [_multiples(side, step / 10 ** len(zeros), grammar, e) for side in sides if not side.empty]
    options: list[Node] = [sequence(part, Text(zeros)) for part in parts if part]
    if bounds.contains(Decimal(0)):
        options.append(Text("0"))
    return choice(*options) if options else None


def _listed_multiples(bounds: Bounds, step: Fraction, digits: int) -> Node | None:
    if bounds.low is None or bounds.high is None or Fraction(bounds.high - bounds.low) / step >= MOST_MULTIPLES:
        raise PatternError(
            f"it is enforced up to {MOST_STEP} units of its last digit, for powers of ten, and where bounds leave at "
            f"most {MOST_MULTIPLES} multiples"
        )
    first, last = ceil(Fraction(bounds.low) / step), floor(Fraction(bounds.high) / step)
    values = [Decimal(n) * step.numerator / step.denominator for n in range(first, last + 1)]
    fitting = [value for value in values if bounds.contains(value)]
    return choice(*(Text(f"{value:.{digits}f}") for value in fitting)) if fitting else None


def _bounds(schema: Conjunction) -> Bounds:
    low: tuple[Decimal, bool] | None = None
    high: tuple[Decimal, bool] | None = None
    for limit, is_open in _limits(schema, "minimum", "exclusiveMinimum"):
        value = _bound(limit)
        if value > -_LARGEST and (low is None or (value, is_open) > low):
            low = (value, is_open)
    for limit, is_open in _limits(schema, "maximum", "exclusiveMaximum"):
        value = _bound(limit)
        if value < _LARGEST and (high is None or (value, not is_open) < (high[0], not high[1])):
            high = (value, is_open)
    return Bounds(low and low[0], high and high[0], bool(low and low[1]), bool(high and high[1]))


def _limits(schema: Conjunction, keyword: str, exclusive: str) -> Iterator[tuple[Subschema, bool]]:
    """Yields the limits, and whether each is excluded itself: in draft 4, `exclusive` is true or false."""
    for part in schema.parts:
        other = part.schema.get(exclusive)
        if keyword in part.schema:
            yield part.at(keyword), other is True
        if other is not None and not isinstance(other, bool):
            yield part.at(exclusive), True


def _bound(limit: Subschema) -> Decimal:
    value = _decimal(limit.schema)
    outward = value <= -_LARGEST if "inimum" in str(limit.path[-1]) else value >= _LARGEST
    if abs(value) > _LARGEST and not outward:
        raise Unsatisfiable(limit.path, "numbers with more than 30 digits aren't supported")
    return value


def _decimal(value: float | int) -> Decimal:
    if isinstance(value, int) and abs(value) > 10**40:
        return Decimal(10**40 if value > 0 else -(10**40))  # at this size digits don't matter
    return Decimal(repr(value))
