"""Walks over a bundled document and its JSON Schemas. References are followed only if a docstring states it. The keys
of `properties` and similar keywords are names, not keywords: a property called `default` or `not` must not be mistaken
for one. So every walk uses the lists in this module.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.operations import Schema, operations
from specvino.document.pointers import component_name, referred, schema_reference

ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "contentSchema")
LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs")
HOLDING = frozenset((*ONE, *LIST, *NAMED))

# Values under these keys are data: a "$ref" in an example is not a reference.
DATA = ("default", "const", "enum", "value", "x-supported-values")


def subschemas(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yields the schemas directly inside one, with their location as `keyword` or `keyword/name`."""
    if HOLDING.isdisjoint(schema):  # most schemas have none inside
        return
    for keyword in ONE:
        if isinstance(schema.get(keyword), dict):
            yield keyword, schema[keyword]
    for keyword in LIST:
        for index, branch in enumerate(schema.get(keyword, ())):
            yield f"{keyword}/{index}", branch
    for keyword in NAMED:
        for name, child in schema.get(keyword, {}).items():
            yield f"{keyword}/{name}", child


def descend(schema: Schema, location: str) -> Iterator[tuple[str, Schema]]:
    """Yields a schema and all schemas written inside it, each with its location."""
    yield location, schema
    for step, child in subschemas(schema):
        yield from descend(child, f"{location}/{step}")


def objects(node: Any, location: str = "", names: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every object whose keys are keywords, with its location. Data is left out."""
    if isinstance(node, list):
        for index, child in enumerate(node):
            yield from objects(child, f"{location}/{index}")
    elif isinstance(node, dict):
        if not names:
            yield location.lstrip("/") or "the document", node
        for key, child in node.items():
            if names or not (key in DATA or key == "x-support" or (key == "examples" and isinstance(child, list))):
                yield from objects(child, f"{location}/{key}", names=not names and key in NAMED)


def media_types(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the media type objects of bodies and responses, with locations; those of shared responses once."""
    for operation in operations(document):
        location = operation.label
        for name, media in operation.definition.get("requestBody", {}).get("content", {}).items():
            yield f"{location} request {name}", media
        for status, response in operation.definition["responses"].items():
            for name, media in response.get("content", {}).items():
                yield f"{location} {status} {name}", media
    for shared, response in document["components"].get("responses", {}).items():
        for name, media in response.get("content", {}).items():
            yield f"response {shared} {name}", media


def all_schemas(document: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
    """Yields every schema of the document with its location."""
    for name, schema in document["components"]["schemas"].items():
        yield from descend(schema, name)
    for location, media in media_types(document):
        for key in ("schema", "itemSchema"):
            if key in media:
                yield from descend(media[key], f"{location} {key}")
    for operation in operations(document):
        for parameter in operation.parameters:
            location = f"{operation.label} parameter {parameter['name']}"
            yield from descend(parameter["schema"], location)
    for name, header in document["components"].get("headers", {}).items():
        yield from descend(header["schema"], f"header {name}")


def closure(document: dict[str, Any], *roots: str) -> set[str]:
    """Returns the names of the component schemas that can be reached from these, including themselves."""
    seen: set[str] = set()
    queue = list(roots)
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        queue += references(document["components"]["schemas"][name])
    return seen


def references(schema: Schema) -> list[str]:
    """Returns the names of the component schemas that a schema refers to directly."""
    return [component_name(child["$ref"]) for _, child in descend(schema, "") if "$ref" in child]


def followed(document: Mapping[str, Any], node: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every object in a node and in the targets of its references, following each reference once. Each object
    comes with the reference that led to it, which is empty for the node's own objects. Raises KeyError.
    """
    yield from _followed(document, node, "", set())


def _followed(
    document: Mapping[str, Any], node: Any, reference: str, met: set[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for _, current in objects(node):
        yield reference, current
        for target in (current.get("$ref"), *current.get("discriminator", {}).get("mapping", {}).values()):
            if isinstance(target, str) and target not in met:
                met.add(target)
                yield from _followed(document, referred(document, target), target, met)


def reached(document: Mapping[str, Any], node: Any) -> set[str]:
    """Returns the names of the component schemas that a node leads to, through any component."""
    schemas = schema_reference("")
    return {component_name(reference) for reference, _ in followed(document, node) if reference.startswith(schemas)}
