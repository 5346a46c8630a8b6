"""Values to try: at the bounds of either side, and one of each type."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from specvino.document.operations import Schema
from specvino.document.unions import values
from specvino.upstream.side import Side, may_be

_LONGEST = 5000
"""The maximum number of characters or elements of a sample. Larger bounds aren't tried."""

_DEPTH = 12

_PLAIN: tuple[Any, ...] = (None, True, False, "text", "", 0, 1, -1, 2, 0.5, 1.5, -0.5, 1_000_000)

_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def plain(schemas: Iterable[Schema]) -> list[Any]:
    """Returns values other than lists and objects, for schemas that apply to one value."""
    samples: list[Any] = [*_PLAIN]
    for schema in schemas:
        samples += [value for value in values(schema) or () if not isinstance(value, (list, dict))]
        for keyword in _BOUNDS:
            if isinstance(bound := schema.get(keyword), (int, float)):
                # A double can't distinguish 2**63 from its neighbours; integers can.
                steps = (0, 1, -1) if isinstance(bound, int) or bound != int(bound) else (0, 1, -1, 0.25, -0.25)
                samples += [bound + step for step in steps]
        for keyword in ("minLength", "maxLength"):
            if isinstance(bound := schema.get(keyword), int):
                samples += ["x" * size for size in (bound - 1, bound, bound + 1) if 0 <= size <= _LONGEST]
    return _different(samples)


def sizes(schemas: Iterable[Schema]) -> list[int]:
    """Returns the sizes of lists to try."""
    bounds = [schema[key] for schema in schemas for key in ("minItems", "maxItems") if isinstance(schema.get(key), int)]
    return sorted(
        {0, 1, *(size for bound in bounds for size in (bound - 1, bound, bound + 1) if 0 <= size <= _LONGEST)}
    )


def example(side: Side, schemas: Sequence[Schema], depth: int = 0) -> Iterator[Any]:
    """Yields small values that a side accepts; none if none is found."""
    for leaf in side.leaves(schemas):
        for value in _examples(side, leaf, depth):
            if side.takes(schemas, value):
                yield value


def _examples(side: Side, leaf: Schema, depth: int) -> Iterator[Any]:
    if (listed := values(leaf)) is not None:
        yield from listed
        return
    yield from plain([leaf])
    if depth > _DEPTH:
        return
    if may_be(leaf, "array"):
        size = leaf.get("minItems", 0)
        item = next(example(side, [leaf.get("items", {})], depth + 1), None) if size and size <= _LONGEST else None
        yield [item] * size if size <= _LONGEST else []
    if may_be(leaf, "object"):
        known = leaf.get("properties", {})
        names = leaf.get("required", ())
        yield {name: next(example(side, [known.get(name, {})], depth + 1), None) for name in names}


def _different(samples: Iterable[Any]) -> list[Any]:
    """Returns the values without duplicates; 1 and True are different, 1 and 1.0 aren't."""
    return list({(isinstance(value, bool), value): value for value in samples}.values())
