"""The schemas of a document that are in requests, and those that are in answers."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import Schema, event_of, operations
from specvino.document.walk import closure, references


def received(document: dict[str, Any]) -> set[str]:
    """Returns the component schemas that can be reached from a request's body."""
    bodies = [
        media["schema"]
        for operation in operations(document)
        for media in operation.definition.get("requestBody", {}).get("content", {}).values()
    ]
    return _reached(document, bodies)


def sent(document: dict[str, Any]) -> set[str]:
    """Returns the component schemas that can be reached from an answer or the event of a stream."""
    contents = [
        response.get("content", {})
        for operation in operations(document)
        for response in operation.definition["responses"].values()
    ]
    contents += [response["content"] for response in document["components"].get("responses", {}).values()]
    bodies = []
    for content in contents:
        for media in content.values():
            bodies.append(event_of(document, media) if "itemSchema" in media else media["schema"])
    return _reached(document, bodies)


def described(schema: Schema, location: str) -> Iterator[tuple[str, Schema]]:
    """Yields a schema and the schemas inside it that describe values, without conditions."""
    yield location, schema
    for keyword in ("items", "additionalProperties", "contentSchema"):
        if isinstance(schema.get(keyword), dict):
            yield from described(schema[keyword], f"{location}/{keyword}")
    for keyword in ("allOf", "anyOf", "oneOf", "prefixItems"):
        for index, branch in enumerate(schema.get(keyword, ())):
            if "if" not in branch:
                yield from described(branch, f"{location}/{keyword}/{index}")
    for keyword in ("properties", "patternProperties"):
        for name, child in schema.get(keyword, {}).items():
            yield from described(child, f"{location}/{keyword}/{name}")


def _reached(document: dict[str, Any], schemas: list[Schema]) -> set[str]:
    return closure(document, *(name for schema in schemas for name in references(schema)))
