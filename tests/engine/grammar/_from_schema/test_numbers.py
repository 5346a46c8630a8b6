from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specvino.engine.grammar._ebnf.nodes import Chars, Choice, Node, Repeat, Sequence, Text
from specvino.engine.grammar._from_schema.numbers import Bounds, integers, numbers

bound = st.none() | st.decimals(-2000, 2000, places=3).map(Decimal.normalize)


def matches(node: Node | None, text: str) -> bool:
    return node is not None and "" in ends(node, {text})


def ends(node: Node, texts: set[str]) -> set[str]:
    """Returns the rests of the texts after the node."""
    match node:
        case Text(text):
            return {left.removeprefix(text) for left in texts if left.startswith(text)}
        case Chars(ranges):
            return {left[1:] for left in texts if left and any(low <= ord(left[0]) <= high for low, high in ranges)}
        case Sequence(items):
            for item in items:
                texts = ends(item, texts)
            return texts
        case Choice(options):
            return {left for option in options for left in ends(option, texts)}
        case Repeat(item, least, most):
            for _ in range(least):
                texts = ends(item, texts)
            rests = set(texts)
            for _ in range((most or 50) - least):
                texts = ends(item, texts)
                rests |= texts
            return rests
    raise AssertionError(node)


def within(value: Decimal, bounds: Bounds) -> bool:
    above = bounds.low is None or value > bounds.low or (value == bounds.low and not bounds.low_open)
    below = bounds.high is None or value < bounds.high or (value == bounds.high and not bounds.high_open)
    return above and below


@settings(deadline=None)
@given(bound, bound, st.booleans(), st.booleans(), st.decimals(-3000, 3000, places=4))
def test_exactly_the_decimals_between_the_bounds_match(
    low: Decimal | None, high: Decimal | None, low_open: bool, high_open: bool, value: Decimal
) -> None:
    bounds = Bounds(low, high, low_open, high_open)
    node = numbers(bounds, None)
    for number in (value, low, high):
        if number is not None:
            text = f"{number:f}"
            expected = within(number, bounds) and not (number == 0 and text.startswith("-"))
            assert matches(node, text) == expected


@settings(deadline=None)
@given(bound, bound, st.booleans(), st.booleans(), st.integers(-3000, 3000), st.sampled_from([None, 1, 2, 7, 10, 100]))
def test_exactly_the_integers_between_the_bounds_match(
    low: Decimal | None, high: Decimal | None, low_open: bool, high_open: bool, value: int, multiple: int | None
) -> None:
    bounds = Bounds(low, high, low_open, high_open)
    step = None if multiple is None else Decimal(multiple)
    try:
        node = integers(bounds, step)
    except ValueError:
        assert multiple in (2, 7)
        assert low is None or high is None or high - low > 2000
        return
    near = [int(limit) + offset for limit in (low, high) if limit is not None for offset in (-1, 0, 1)]
    for number in (value, *near):
        assert matches(node, str(number)) == (within(Decimal(number), bounds) and number % (multiple or 1) == 0)


@pytest.mark.parametrize(
    ("multiple", "good", "bad"), [("0.01", "1.25", "1.255"), ("0.1", "-3", "0.11"), ("3", "9", "10")]
)
def test_multiples_of_decimals(multiple: str, good: str, bad: str) -> None:
    node = numbers(Bounds(Decimal(-10), Decimal(10)), Decimal(multiple))
    assert matches(node, good)
    assert not matches(node, bad)
