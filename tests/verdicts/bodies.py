"""Draws bodies from a schema: each field at each value worth trying, and pairs of fields."""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.document.operations import Schema
from specvino.upstream.samples import example, plain, sizes
from specvino.upstream.side import Side, may_be

UNKNOWN = "x_unknown"
"""A member that no schema has."""

PAIRED = 3
"""The number of values of a field that are tried together with those of each other field."""

Put = Callable[[Any], Any]
"""Returns the whole body with a value in one place."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A body that differs in one place from one that is drawn before it, `around`. path: the place, as dialect files
    name fields. tried: the value there. absent: whether it is left out.
    """

    path: str
    body: Any
    tried: Any
    around: Any
    absent: bool = False


def draws(side: Side, schema: Schema, body: dict[str, Any]) -> Iterator[Draw]:
    """Yields bodies that differ in one place from `body`, by what a side's schema has in that place."""
    for leaf in side.leaves([schema]):
        yield from _Walk(side).object(leaf, body, "", lambda value: value, (_mark(leaf),))


def pairs(fields: dict[str, Sequence[Any]], body: dict[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yields bodies that have two more fields, each with one of its first values."""
    for one, other in itertools.combinations(sorted(fields), 2):
        for value, second in itertools.product(fields[one][:PAIRED], fields[other][:PAIRED]):
            yield (one, other), {**body, one: value, other: second}


def _mark(leaf: Schema) -> str:
    return json.dumps(leaf, sort_keys=True)


class _Walk:
    def __init__(self, side: Side) -> None:
        self._side = side

    def at(
        self, schema: Schema, known: Any, path: str, put: Put, parent: Any, around: tuple[str, ...]
    ) -> Iterator[Draw]:
        """Yields the draws of a place. known: the value that a valid body has there, or None."""
        for value in (*plain(self._side.applicable(schema)), [], {}):
            yield Draw(path, put(value), value, parent)
        for leaf in self._side.leaves([schema]):
            mark = _mark(leaf)
            if mark in around:
                continue  # recursive
            inside = (*around, mark)
            if "items" in leaf and may_be(leaf, "array"):
                yield from self._array(leaf, known, path, put, parent, inside)
            if leaf.get("properties") and may_be(leaf, "object"):
                small = known if isinstance(known, dict) and self._side.takes([leaf], known) else None
                if small is None:
                    small = next((value for value in example(self._side, [leaf]) if isinstance(value, dict)), None)
                    if small is None:
                        continue
                    yield Draw(path, put(small), small, parent)
                yield from self.object(leaf, small, path, put, inside)
            elif isinstance(leaf.get("additionalProperties"), dict):
                yield from self.at(
                    leaf["additionalProperties"], None, f"{path}.*", lambda value: put({"1": value}), parent, inside
                )

    def _array(
        self, leaf: Schema, known: Any, path: str, put: Put, parent: Any, around: tuple[str, ...]
    ) -> Iterator[Draw]:
        items = leaf["items"] if isinstance(leaf["items"], dict) else {}
        element = next(example(self._side, [items]), None)
        for size in sizes([leaf]):
            yield Draw(path, put([element] * size), [element] * size, parent)
        elements = known if isinstance(known, list) else []
        for index, old in enumerate(elements):
            yield from self.at(items, old, f"{path}[]", _replacing(put, elements, index), parent, around)
        yield from self.at(items, None, f"{path}[]", lambda value: put([*elements, value]), parent, around)

    def object(
        self, leaf: Schema, small: dict[str, Any], path: str, put: Put, around: tuple[str, ...]
    ) -> Iterator[Draw]:
        whole = put(small)
        yield Draw(f"{path}.{UNKNOWN}", put({**small, UNKNOWN: 1}), 1, whole)
        for name in small:
            left = {key: value for key, value in small.items() if key != name}
            yield Draw(f"{path}.{name}", put(left), None, whole, absent=True)
        for name, schema in leaf.get("properties", {}).items():
            yield from self.at(schema, small.get(name), f"{path}.{name}", _setting(put, small, name), whole, around)


def _replacing(put: Put, elements: list[Any], index: int) -> Put:
    return lambda value: put([*elements[:index], value, *elements[index + 1 :]])


def _setting(put: Put, small: dict[str, Any], name: str) -> Put:
    return lambda value: put({**small, name: value})
