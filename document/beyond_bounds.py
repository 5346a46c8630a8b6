"""Generates values that exceed a single bound of a schema and are valid otherwise."""

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import resolved

# The maximum number of characters or elements of a generated value; larger bounds aren't tested.
LARGEST = 65_536


def beyond_bounds(document: dict[str, Any], schema: Schema) -> Iterator[Any]:
    """Yields a value for each upper bound of a schema and of everything inside it: `maximum`, `maxLength`, `maxItems`,
    `maxProperties` and the `maxLength` of `propertyNames`.

    A recursive schema is visited once. Another branch of the schema may still allow a value.
    """
    yield from _beyond(document, schema, ())


def _beyond(document: dict[str, Any], schema: Schema, seen: tuple[str, ...]) -> Iterator[Any]:
    if not schema:
        return
    if reference := schema.get("$ref"):
        if reference not in seen:
            yield from _beyond(document, resolved(document, schema), (*seen, reference))
        return
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            yield from _beyond(document, branch, seen)
    if "maximum" in schema:
        most = schema["maximum"]
        yield most + 1 if most + 1 > most else math.nextafter(most, math.inf)
    if schema.get("maxLength", LARGEST + 1) <= LARGEST:
        yield "a" * (schema["maxLength"] + 1)
    yield from _lists(document, schema, seen)
    yield from _objects(document, schema, seen)


def _lists(document: dict[str, Any], schema: Schema, seen: tuple[str, ...]) -> Iterator[Any]:
    items = schema.get("items", {})
    if schema.get("maxItems", LARGEST + 1) <= LARGEST:
        for element in samples(document, items):
            yield [element] * (schema["maxItems"] + 1)
    for element in _beyond(document, items, seen):
        yield [element]


def _objects(document: dict[str, Any], schema: Schema, seen: tuple[str, ...]) -> Iterator[Any]:
    others = schema.get("additionalProperties") or {}
    if isinstance(others, bool):
        others = {}
    for value in samples(document, others) if others else ["a"]:
        if schema.get("maxProperties", LARGEST + 1) <= LARGEST:
            yield {f"k{index}": value for index in range(schema["maxProperties"] + 1)}
        if longest := schema.get("propertyNames", {}).get("maxLength"):
            yield {"k" * (longest + 1): value}
    for value in _beyond(document, others, seen):
        yield {"k": value}
    for least in samples(document, {**schema, "type": "object"}) if "properties" in schema else ():
        for name, child in schema["properties"].items():
            for value in _beyond(document, child, seen):
                yield {**least, name: value}


def samples(document: dict[str, Any], schema: Schema, seen: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yields a small value that the schema allows by its own keywords; nothing for a schema that requires itself."""
    with suppress(LookupError):
        yield _sample(document, schema, seen)


def _sample(document: dict[str, Any], schema: Schema, seen: tuple[str, ...]) -> Any:
    """Returns a small value. Raises LookupError for a schema that requires itself."""
    if reference := schema.get("$ref"):
        if reference in seen:
            raise LookupError(reference)
        return _sample(document, resolved(document, schema), (*seen, reference))
    for keyword in ("enum", "examples"):
        if schema.get(keyword):
            return schema[keyword][0]
    if "const" in schema:
        return schema["const"]
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        for value in samples(document, branch, seen):
            return value
    match schema.get("type"):
        case "string":
            return "a" * max(1, schema.get("minLength", 1))
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        case "boolean":
            return True
        case "null":
            return None
        case "array":
            return [_sample(document, schema["items"], seen)] * schema.get("minItems", 0)
    return {name: _sample(document, schema["properties"][name], seen) for name in schema.get("required", ())}
