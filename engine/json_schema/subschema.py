"""Subschemas with their places, and several of them that hold together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from specvino.engine.json_schema.errors import Impossible, Path, SchemaError


@dataclass(frozen=True, slots=True)
class Located:
    """A subschema, or what is left of one, at its place in the root schema."""

    schema: Any
    path: Path

    def at(self, *keys: str | int) -> "Located":
        value = self.schema
        for key in keys:
            value = value[key]
        return Located(value, (*self.path, *keys))

    def without(self, *keywords: str) -> "Located":
        return Located({key: value for key, value in self.schema.items() if key not in keywords}, self.path)


class Together:
    """Subschemas without `$ref` and `allOf`, of which a value must satisfy each."""

    def __init__(self, parts: tuple[Located, ...]) -> None:
        self.parts = parts
        self.key = frozenset((part.path, tuple(part.schema)) for part in parts)

    def all(self, keyword: str) -> Iterator[Located]:
        """What each says under this keyword."""
        return (part.at(keyword) for part in self.parts if keyword in part.schema)

    def values(self, keyword: str) -> list[Any]:
        return [each.schema for each in self.all(keyword)]

    def first(self, keyword: str) -> Located | None:
        return next(self.all(keyword), None)


def flatten(root: Mapping[str, Any], parts: tuple[Located, ...]) -> Together:
    """Follows references and takes apart `allOf`. Raises Impossible for a false schema, and SchemaError."""
    flat: dict[tuple[Path, tuple[str, ...]], Located] = {}
    for part in parts:
        _flatten(root, part, flat, ())
    return Together(tuple(flat.values()))


def _flatten(root: Mapping[str, Any], part: Located, flat: dict[Any, Located], followed: tuple[Path, ...]) -> None:
    if part.schema is True:
        return
    if part.schema is False:
        raise Impossible(part.path, "the schema false allows no value")
    reference = part.schema.get("$ref")
    if reference is not None:
        target = _target(root, reference, part.at("$ref").path)
        if target.path in followed:
            raise SchemaError(part.at("$ref").path, f"{reference!r} leads back to itself")
        _flatten(root, target, flat, (*followed, target.path))
    for index in range(len(part.schema.get("allOf", ()))):
        _flatten(root, part.at("allOf", index), flat, followed)
    rest = part.without("$ref", "allOf")
    if rest.schema:
        flat.setdefault((rest.path, tuple(rest.schema)), rest)


def _target(root: Mapping[str, Any], reference: str, path: Path) -> Located:
    if not reference.startswith("#"):
        raise SchemaError(
            path, f"{reference!r} leads out of the schema; only references that begin with # are followed"
        )
    pointer = unquote(reference[1:])
    if pointer and not pointer.startswith("/"):
        raise SchemaError(
            path, f"{reference!r} names an anchor; only references by path, like #/$defs/name, are followed"
        )
    keys: list[str | int] = []
    value: Any = root
    for part in pointer.split("/")[1:]:
        key: str | int = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and part.isdecimal() and len(part) < 6:
            key = int(part)
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise SchemaError(path, f"{reference!r} leads to nothing") from None
        keys.append(key)
    if not isinstance(value, dict | bool):
        raise SchemaError(path, f"{reference!r} leads to what is no schema")
    return Located(value, tuple(keys))
