"""The differences of two answers to the same request."""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from specvino.conformance.two_servers.observation import (
    FOR_PEOPLE,
    Kind,
    Location,
    Observation,
    below,
    type_of,
)

# The largest number of characters of a value in a message.
LONGEST_VALUE = 120

# How many types of events are shown from the first difference on.
AFTER = 3

# What a number may differ by, relative to its size: logprobs are rounded.
TOLERANCE = 1e-3

# The kinds of locations with values of an answer, which a server may draw.
VALUES = (Kind.VALUE, Kind.STREAM_VALUE, Kind.EVENT_VALUE)

# Where an answer has what the model made, and its counts.
MADE = ("choices", "output", "content", "usage", "response", "item", "part", "delta", "message", "content_block")

# Values there that don't depend on the text.
NOT_MADE = (
    *("finish_reason", "index", "input_tokens", "model", "object", "prompt_tokens", "role", "status", "stop_reason"),
    *("service_tier", "type"),
)

LENGTH = "(length)"

# The kind of location with the type of a value.
TYPES = {
    Kind.ERROR: Kind.ERROR,
    Kind.VALUE: Kind.FIELD,
    Kind.STREAM_VALUE: Kind.FIELD,
    Kind.EVENT_VALUE: Kind.EVENT_FIELD,
}

# The number of choices, which is that of the request.
CHOICES = f"choices.{LENGTH}"


class Difference(NamedTuple):
    """The values of both servers at a location; empty if a server has none."""

    a: str
    b: str


Differences = dict[Location, Difference]


def differences(one: Observation, other: Observation) -> Differences:
    """Returns the differences of two answers. What follows from another one is left out: members of what only one has,
    the body of a refusal beside an answer, counts of another text."""
    apart = dict(_of_facts(one.facts, other.facts))
    status = Location(Kind.STATUS)
    if status in apart and not all(apart[status][side].startswith(("4", "5")) for side in (0, 1)):
        return {status: apart[status]}
    apart = {location: pair for location, pair in apart.items() if not _follows(location, one, other, apart)}
    apart |= _of_orders(one, other)
    is_made_alike = one.made == other.made
    for location in one.values.keys() & other.values.keys():
        for where, pair in _of_values(one.values[location], other.values[location], ""):
            at = location._replace(where=where.removeprefix("*."))
            typed = at._replace(kind=TYPES[location.kind])
            if typed not in apart and (is_made_alike or not _is_consequence(at, pair)):
                apart.setdefault(at, pair)
    return apart


def _of_facts(one: Mapping[Location, str], other: Mapping[Location, str]) -> Iterator[tuple[Location, Difference]]:
    both = [{location.of for location in side} for side in (one, other)]
    common = both[0] & both[1]  # of events that only one has, no fields are compared
    for location in {**one, **other}:
        pair = Difference(one.get(location, ""), other.get(location, ""))
        if pair.a != pair.b and location.of in common:
            yield location, pair


def _follows(location: Location, one: Observation, other: Observation, apart: Mapping[Location, Difference]) -> bool:
    """Returns whether a difference of facts follows from one above it."""
    if location.kind is Kind.STATUS or location.kind is Kind.HEADER or location == Location(Kind.BODY):
        return False
    if Location(Kind.BODY) in apart:
        return True
    if not location.where:
        return False
    names = location.where.split(".")
    # An empty list has no elements, whose fields could differ.
    is_of_empty = names[-1] == "*" and "" in apart[location]
    return is_of_empty or any(location._replace(where=".".join(names[:depth])) in apart for depth in range(len(names)))


def _of_orders(one: Observation, other: Observation) -> Iterator[tuple[Location, Difference]]:
    """Yields the differences in the order of the events that both streams have."""
    kinds = [{location.where for location in side.facts if location.kind is Kind.EVENT} for side in (one, other)]
    common = kinds[0] & kinds[1]
    for key in one.orders.keys() & other.orders.keys():
        orders = [[type for type, _ in groupby(filter(common.__contains__, side.orders[key]))] for side in (one, other)]
        if orders[0] != orders[1]:
            pairs = zip(*orders, strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            yield Location(Kind.ORDER), Difference(*(_order(order, same) for order in orders))


def _order(types: list[str], same: int) -> str:
    """Returns the types around the first difference, as text."""
    start, end = max(same - 1, 0), same + AFTER
    return ", ".join(["…"] * (start > 0) + types[start:end] + ["…"] * (end < len(types)))


def _of_values(one: Any, other: Any, where: str) -> Iterator[tuple[str, Difference]]:
    """Yields the first difference at each path where both values have the same type of container."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in one:
            if name in other:
                yield from _of_values(one[name], other[name], below(where, name))
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield below(where, LENGTH), Difference(str(len(one)), str(len(other)))
        else:
            for mine, its in zip(one, other, strict=True):
                yield from _of_values(mine, its, below(where, "*"))
    elif not _is_same(one, other):
        yield where, Difference(shown(one), shown(other))


def _is_same(one: Any, other: Any) -> bool:
    if type_of(one) != type_of(other):
        return False
    if not isinstance(one, float) and not isinstance(other, float):
        return bool(one == other)
    try:
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except OverflowError:  # an integer that no float is close to
        return False


def shown(value: Any) -> str:
    """Returns a value as JSON, truncated."""
    if isinstance(value, str) and value.startswith("${") and value.endswith("}"):
        return value[2:-1]
    if isinstance(value, Mapping | list):
        return type_of(value)
    text = json.dumps(value, ensure_ascii=False)
    quote = '"' if isinstance(value, str) else ""
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…{quote}"


def _is_consequence(location: Location, pair: Difference) -> bool:
    """Returns whether a value isn't compared where the models made different texts: counts, logprobs, token ids."""
    if location.kind is Kind.ERROR:
        return False
    names = location.where.split(".")
    if names[0] not in MADE or names[-1] in NOT_MADE or location.where == CHOICES:
        return False
    return "logprobs" in names or not all(side.startswith('"') for side in pair)


def is_for_people(location: Location, pair: Difference) -> bool:
    """Returns whether a difference is that of two error texts."""
    is_text = location.where.rpartition(".")[2] in (*FOR_PEOPLE, "text")
    return location.kind is Kind.ERROR and is_text and pair.a.startswith('"') and pair.b.startswith('"')
