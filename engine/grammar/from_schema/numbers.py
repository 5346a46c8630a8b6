"""Numbers that a schema describes, as nodes."""

from collections.abc import Iterator
from decimal import Decimal

from specvino.engine.grammar.ebnf.nodes import Grammar, Node
from specvino.engine.grammar.from_schema import json_text, number_intervals
from specvino.engine.grammar.from_schema.number_intervals import Bounds
from specvino.engine.json_schema.errors import Path, Unsatisfiable
from specvino.engine.json_schema.subschema import Conjunction, Subschema

_LARGEST = Decimal(10) ** 30


def number(schema: Conjunction, kind: str, grammar: Grammar, unenforced: dict[Path, str]) -> Node:
    """Returns numbers that satisfy a schema. `kind` is number or integer. Raises Unsatisfiable."""
    bounds = _bounds(schema)
    multiples = list(schema.all("multipleOf"))
    multiple = _decimal(multiples[0].schema) if multiples else None
    for each in multiples[1:]:
        unenforced[each.path] = "beside another one it can't be enforced"
    if bounds == Bounds() and multiple is None:
        return json_text.any_integer(grammar) if kind == "integer" else json_text.any_number(grammar)
    make = number_intervals.integers if kind == "integer" else number_intervals.numbers
    try:
        node = make(bounds, multiple)
    except ValueError as error:
        unenforced[multiples[0].path] = str(error)
        node = make(bounds, None)
    if node is None:
        raise Unsatisfiable(schema.parts[0].path, "no number lies between its bounds")
    return node


def _bounds(schema: Conjunction) -> Bounds:
    low: tuple[Decimal, bool] | None = None
    high: tuple[Decimal, bool] | None = None
    for each, is_open in _limits(schema, "minimum", "exclusiveMinimum"):
        value = _bound(each)
        if value > -_LARGEST and (low is None or (value, is_open) > low):
            low = (value, is_open)
    for each, is_open in _limits(schema, "maximum", "exclusiveMaximum"):
        value = _bound(each)
        if value < _LARGEST and (high is None or (value, not is_open) < (high[0], not high[1])):
            high = (value, is_open)
    return Bounds(low and low[0], high and high[0], bool(low and low[1]), bool(high and high[1]))


def _limits(schema: Conjunction, keyword: str, exclusive: str) -> Iterator[tuple[Subschema, bool]]:
    """Yields the limits, and whether each is itself excluded: in draft 4, `exclusive` is true or false."""
    for part in schema.parts:
        other = part.schema.get(exclusive)
        if keyword in part.schema:
            yield part.at(keyword), other is True
        if other is not None and not isinstance(other, bool):
            yield part.at(exclusive), True


def _bound(each: Subschema) -> Decimal:
    value = _decimal(each.schema)
    outward = value <= -_LARGEST if "inimum" in str(each.path[-1]) else value >= _LARGEST
    if abs(value) > _LARGEST and not outward:
        raise Unsatisfiable(each.path, "numbers of more than 30 digits aren't written")
    return value


def _decimal(value: float | int) -> Decimal:
    if isinstance(value, int) and abs(value) > 10**40:
        return Decimal(10**40 if value > 0 else -(10**40))  # digits don't matter so far out
    return Decimal(repr(value))
