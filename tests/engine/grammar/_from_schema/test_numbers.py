from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from samples.matcher import Matcher

from specvino.engine.grammar._ebnf.nodes import Chars, Choice, Node, Repeat, Sequence, Text
from specvino.engine.grammar._errors import GrammarError
from specvino.engine.grammar._from_schema.converter import convert
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
    node = numbers(bounds)
    for number in (value, low, high):
        if number is not None:
            text = f"{number:f}"
            expected = within(number, bounds) and not (number == 0 and text.startswith("-"))
            assert matches(node, text) == expected


@settings(deadline=None)
@given(bound, bound, st.booleans(), st.booleans(), st.integers(-3000, 3000))
def test_exactly_the_integers_between_the_bounds_match(
    low: Decimal | None, high: Decimal | None, low_open: bool, high_open: bool, value: int
) -> None:
    bounds = Bounds(low, high, low_open, high_open)
    node = integers(bounds)
    near = [int(limit) + offset for limit in (low, high) if limit is not None for offset in (-1, 0, 1)]
    for number in (value, *near):
        assert matches(node, str(number)) == within(Decimal(number), bounds)


STEPS = ["0.25", "0.01", "0.3", "2.5", "1", "7", "100", "1331"]


@example(None, Decimal("-0.033"), False, ["0.3", "100"], -33)
@settings(deadline=None, max_examples=60)
@given(bound, bound, st.booleans(), st.lists(st.sampled_from(STEPS), min_size=1, max_size=2), st.integers(-400, 400))
def test_exactly_the_multiples_between_the_bounds_match(
    low: Decimal | None, high: Decimal | None, low_open: bool, steps: list[str], times: int
) -> None:
    schema: dict[str, Any] = {"type": "number", "allOf": [{"multipleOf": float(step)} for step in steps]}
    if low is not None:
        schema["exclusiveMinimum" if low_open else "minimum"] = float(low)
    if high is not None:
        schema["maximum"] = float(high)
    bounds = Bounds(low, high, low_open)
    step = max(map(Decimal, steps))
    near = [step * times, step * times + Decimal("0.01"), *(limit for limit in (low, high) if limit is not None)]
    fitting = [
        f"{value.normalize():f}"
        for value in near
        if within(value, bounds) and all(value % Decimal(one) == 0 for one in steps)
    ]
    try:
        grammar, findings = convert(schema)
    except GrammarError:
        assert not fitting
        return
    if findings.unenforced:
        assert "1331" in steps
        return
    known = Matcher(grammar)
    for value in near:
        text = f"{value.normalize():f}"
        assert known.matches(text) == (text in fitting)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("step", [None, 1, 2, 5, 10, 1331])
def test_bounds_of_many_digits_are_exact(kind: str, step: int | None, sign: int) -> None:
    first = 123456789012345678901234567891
    values = range(first - 40, first + 40)
    low, high = sorted((sign * (first - 21), sign * (first + 21)))
    schema: dict[str, Any] = {"type": kind, "minimum": low, "maximum": high}
    if step is not None:
        schema["multipleOf"] = step
    fitting = {sign * value for value in values if low <= sign * value <= high and value % (step or 1) == 0}
    try:
        grammar, findings = convert(schema)
    except GrammarError:
        assert not fitting
        return
    assert not findings.unenforced
    known = Matcher(grammar)
    assert {sign * value for value in values if known.matches(str(sign * value))} == fitting
