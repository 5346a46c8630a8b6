"""The part of a value that a schema describes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.unions import values


def described(document: Mapping[str, Any], schema: Schema, value: Any) -> Any:
    """Returns a value, valid or not, without the members that no schema for it names.

    Of a union, only the branches count whose constants, such as `type`, the object has. An object for which there is no
    schema with members, or one that allows all others, stays as it is.
    """
    return _described(document, [schema], value)


def _described(document: Mapping[str, Any], schemas: Sequence[Schema], value: Any) -> Any:
    if isinstance(value, list):
        items = [schema["items"] for schema in _branches(document, schemas) if "items" in schema]
        return [_described(document, items, element) for element in value] if items else value
    if not isinstance(value, Mapping):
        return value
    objects = [
        schema
        for schema in _branches(document, schemas)
        if "properties" in schema and not _differs(document, schema, value)
    ]
    if not objects or any(schema.get("additionalProperties") for schema in objects):
        return value
    members: dict[str, list[Schema]] = {}
    for schema in objects:
        for name, member in schema["properties"].items():
            members.setdefault(name, []).append(member)
    return {name: _described(document, members[name], part) for name, part in value.items() if name in members}


def _branches(document: Mapping[str, Any], schemas: Sequence[Schema]) -> Iterator[Schema]:
    for schema in schemas:
        node = resolved(document, schema)
        yield node
        for keyword in ("allOf", "anyOf", "oneOf"):
            yield from _branches(document, node.get(keyword, ()))


def _differs(document: Mapping[str, Any], schema: Schema, value: Mapping[str, Any]) -> bool:
    """Returns whether an object has another constant than the schema has for a member."""
    for name, member in schema["properties"].items():
        constants = values(resolved(document, member))
        if constants is not None and name in value and value[name] not in constants:
            return True
    return False
