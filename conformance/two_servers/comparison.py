"""The differences of two answers to the same request."""

import json
import math
from collections.abc import Iterator, Mapping
from itertools import groupby, takewhile
from typing import Any, NamedTuple

from specvino.conformance.two_servers.observation import (
    FOR_PEOPLE,
    Kind,
    Observation,
    Place,
    below,
    type_of,
)

# The largest number of characters of a value in a message.
LONGEST_VALUE = 120

# How many types of events are shown from the first difference on.
AFTER = 3

# What a number may differ by, relative to its size: logprobs are rounded.
TOLERANCE = 1e-3

# The kinds of places with values of an answer, which a server may draw.
VALUES = (Kind.VALUE, Kind.STREAM_VALUE, Kind.EVENT_VALUE)

# Where an answer has what the model made, and its counts.
MADE = ("choices", "output", "content", "usage", "response", "item", "part", "delta", "message", "content_block")

# Values there that don't depend on the text.
NOT_MADE = (
    *("finish_reason", "index", "input_tokens", "model", "object", "prompt_tokens", "role", "status", "stop_reason"),
    *("service_tier", "type"),
)

LENGTH = "(length)"

# The kind of place with the type of a value.
TYPES = {
    Kind.ERROR: Kind.ERROR,
    Kind.VALUE: Kind.FIELD,
    Kind.STREAM_VALUE: Kind.FIELD,
    Kind.EVENT_VALUE: Kind.EVENT_FIELD,
}

# The number of choices, which is that of the request.
CHOICES = f"choices.{LENGTH}"


class Difference(NamedTuple):
    """What the two servers have at a place; empty if a server has nothing there."""

    a: str
    b: str


Differences = dict[Place, Difference]


def differences(one: Observation, other: Observation) -> Differences:
    """Returns the differences of two answers. What follows from another one is left out: members of what only one has,
    the body of a refusal beside an answer, counts of another text."""
    found = dict(_of_facts(one.facts, other.facts))
    status = Place(Kind.STATUS)
    if status in found and not all(found[status][side].startswith(("4", "5")) for side in (0, 1)):
        return {status: found[status]}
    found = {place: pair for place, pair in found.items() if not _follows(place, one, other, found)}
    found |= _of_orders(one, other)
    is_made_alike = one.made == other.made
    for place in one.values.keys() & other.values.keys():
        for where, pair in _of_values(one.values[place], other.values[place], ""):
            at = place._replace(where=where.removeprefix("*."))
            typed = at._replace(kind=TYPES[place.kind])
            if typed not in found and (is_made_alike or not _is_consequence(at, pair)):
                found.setdefault(at, pair)
    return found


def _of_facts(one: Mapping[Place, str], other: Mapping[Place, str]) -> Iterator[tuple[Place, Difference]]:
    both = [{place.of for place in side} for side in (one, other)]
    common = both[0] & both[1]  # of events that only one has, no fields are compared
    for place in {**one, **other}:
        pair = Difference(one.get(place, ""), other.get(place, ""))
        if pair.a != pair.b and place.of in common:
            yield place, pair


def _follows(place: Place, one: Observation, other: Observation, found: Mapping[Place, Difference]) -> bool:
    """Returns whether a difference of facts follows from one above it."""
    if place.kind is Kind.STATUS or place.kind is Kind.HEADER or place == Place(Kind.BODY):
        return False
    if Place(Kind.BODY) in found:
        return True
    if not place.where:
        return False
    names = place.where.split(".")
    # An empty list has no elements, whose fields could differ.
    is_of_empty = names[-1] == "*" and "" in found[place]
    return is_of_empty or any(place._replace(where=".".join(names[:depth])) in found for depth in range(len(names)))


def _of_orders(one: Observation, other: Observation) -> Iterator[tuple[Place, Difference]]:
    """Yields the differences in the order of the events that both streams have."""
    kinds = [{place.where for place in side.facts if place.kind is Kind.EVENT} for side in (one, other)]
    common = kinds[0] & kinds[1]
    for key in one.orders.keys() & other.orders.keys():
        orders = [[type for type, _ in groupby(filter(common.__contains__, side.orders[key]))] for side in (one, other)]
        if orders[0] != orders[1]:
            pairs = zip(*orders, strict=False)
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            yield Place(Kind.ORDER), Difference(*(_order(order, same) for order in orders))


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


def _is_consequence(place: Place, pair: Difference) -> bool:
    """Returns whether a value isn't compared where the models made different texts: counts, logprobs, token ids."""
    if place.kind is Kind.ERROR:
        return False
    names = place.where.split(".")
    if names[0] not in MADE or names[-1] in NOT_MADE or place.where == CHOICES:
        return False
    return "logprobs" in names or not all(side.startswith('"') for side in pair)


def is_for_people(place: Place, pair: Difference) -> bool:
    """Returns whether a difference is that of two error texts."""
    is_text = place.where.rpartition(".")[2] in (*FOR_PEOPLE, "text")
    return place.kind is Kind.ERROR and is_text and pair.a.startswith('"') and pair.b.startswith('"')
