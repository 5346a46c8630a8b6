"""Subschemas with their places, and several of them that hold together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.engine.json_schema.errors import Path, SchemaError, Unsatisfiable
from specvino.engine.json_schema.refs import UnresolvableReference, target


@dataclass(frozen=True, slots=True)
class Subschema:
    """Is a subschema, or what is left of one, at its place in the root schema."""

    schema: Any
    path: Path

    def at(self, *keys: str | int) -> "Subschema":
        value = self.schema
        for key in keys:
            value = value[key]
        return Subschema(value, (*self.path, *keys))

    def without(self, *keywords: str) -> "Subschema":
        return Subschema({key: value for key, value in self.schema.items() if key not in keywords}, self.path)


class Conjunction:
    """Holds subschemas without `$ref` and `allOf`, of which a value must satisfy each."""

    def __init__(self, parts: tuple[Subschema, ...]) -> None:
        self.parts = parts
        self.key = frozenset((part.path, tuple(part.schema)) for part in parts)

    def all(self, keyword: str) -> Iterator[Subschema]:
        """Returns what each says under this keyword."""
        return (part.at(keyword) for part in self.parts if keyword in part.schema)

    def values(self, keyword: str) -> list[Any]:
        return [each.schema for each in self.all(keyword)]

    def first(self, keyword: str) -> Subschema | None:
        return next(self.all(keyword), None)


def flatten(root: Mapping[str, Any], parts: tuple[Subschema, ...]) -> Conjunction:
    """Follows references and takes apart `allOf`. Raises Unsatisfiable for a false schema, and SchemaError."""
    flat: dict[tuple[Path, tuple[str, ...]], Subschema] = {}
    for part in parts:
        _flatten(root, part, flat, ())
    return Conjunction(tuple(flat.values()))


def _flatten(root: Mapping[str, Any], part: Subschema, flat: dict[Any, Subschema], followed: tuple[Path, ...]) -> None:
    if part.schema is True:
        return
    if part.schema is False:
        raise Unsatisfiable(part.path, "the schema false allows no value")
    reference = part.schema.get("$ref")
    if reference is not None:
        path = part.at("$ref").path
        try:
            schema, place = target(root, reference)
        except UnresolvableReference as error:
            raise SchemaError(path, str(error)) from None
        if place in followed:
            raise SchemaError(path, f"{reference!r} leads back to itself")
        _flatten(root, Subschema(schema, place), flat, (*followed, place))
    for index in range(len(part.schema.get("allOf", ()))):
        _flatten(root, part.at("allOf", index), flat, followed)
    rest = part.without("$ref", "allOf")
    if rest.schema:
        flat.setdefault((rest.path, tuple(rest.schema)), rest)
