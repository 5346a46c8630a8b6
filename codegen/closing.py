"""Closes the objects in the requests of a system that refuses unknown fields."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.apart import rename
from specvino.document.operations import Schema, operations
from specvino.document.pointers import schema_reference
from specvino.document.transforms import copied
from specvino.document.walk import reached

SENT_BACK = ("AssistantMessage", "AssistantAudioReference")
"""The titles of objects that stay open: clients send a message of an answer back as it is, with fields that only
answers have, such as `annotations`, and `data` of audio."""


def close_requests(document: dict[str, Any]) -> None:
    """Adds `additionalProperties: false` to every object with known properties in the bodies of requests, in place.

    Those that are `SENT_BACK` stay open. Answers may have new fields: a component that they share with requests is
    copied for these, as `RequestX`.
    """
    schemas: dict[str, Schema] = document["components"]["schemas"]
    answers: list[Any] = [document["components"].get("responses", {})]
    bodies: list[Any] = []
    for operation in operations(document):
        definition = operation.definition
        answers.append({key: value for key, value in definition.items() if key != "requestBody"})
        bodies.append(definition.get("requestBody", {}))
    sent = reached(document, bodies)
    shared = sent & reached(document, answers)
    copies = {name: f"Request{name}" for name in sorted(shared) if _is_affected(document, name)}
    schemas |= {copy: copied(schemas[name]) for name, copy in copies.items()}
    closed = [schemas[copies.get(name, name)] for name in sent]
    rename([*bodies, *closed], copies)
    for node in [*bodies, *closed]:
        for schema in _objects(node):
            schema.setdefault("additionalProperties", False)


def _is_affected(document: dict[str, Any], name: str) -> bool:
    schemas = document["components"]["schemas"]
    names = reached(document, {"$ref": schema_reference(name)})
    return any("additionalProperties" not in schema for name in names for schema in _objects(schemas[name]))


def _objects(node: Any) -> Iterator[Schema]:
    """Yields the objects with known properties, but not the parts of `allOf` and conditions, which see only some of an
    object's properties."""
    if isinstance(node, list):
        for child in node:
            yield from _objects(child)
    elif isinstance(node, dict):
        if "properties" in node and node.get("title") not in SENT_BACK:
            yield node
        for key in ("content", "application/json", "schema", "items", "anyOf", "oneOf", "additionalProperties"):
            yield from _objects(node.get(key))
        for child in node.get("properties", {}).values():
            yield from _objects(child)
