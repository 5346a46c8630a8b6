"""How to walk a bundled document and its JSON Schemas.

The keys of `properties` and the like are names, not keywords: a property called `default` or `not` must not be taken
for one. So every walk goes through the lists here.
"""

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "contentSchema")
LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs")

# Values under these keys are data: a "$ref" in an example is not a reference.
DATA = ("default", "const", "enum", "value", "x-supported-values")


def resolve(document: dict[str, Any], reference: str) -> Any:
    """What a local reference such as `#/components/schemas/Model` points at. Raises KeyError."""
    node: Any = document
    for part in reference.removeprefix("#/").split("/"):
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


def component_name(reference: str) -> str:
    return reference.rsplit("/", 1)[-1]


def deref(document: dict[str, Any], schema: Schema) -> Schema:
    """The schema itself or, where it refers to a component, that component."""
    return resolve(document, schema["$ref"]) if "$ref" in schema else schema


def subschemas(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The schemas directly inside one, with their place as `keyword` or `keyword/name`."""
    for keyword in ONE:
        if isinstance(schema.get(keyword), dict):
            yield keyword, schema[keyword]
    for keyword in LIST:
        for index, branch in enumerate(schema.get(keyword, ())):
            yield f"{keyword}/{index}", branch
    for keyword in NAMED:
        for name, child in schema.get(keyword, {}).items():
            yield f"{keyword}/{name}", child


def descend(schema: Schema, place: str) -> Iterator[tuple[str, Schema]]:
    """A schema and all that are written inside it, references not followed."""
    yield place, schema
    for step, child in subschemas(schema):
        yield from descend(child, f"{place}/{step}")


def objects(node: Any, place: str = "", names: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document whose keys are the document's own words, with its place. Data is left out."""
    if isinstance(node, list):
        for index, child in enumerate(node):
            yield from objects(child, f"{place}/{index}")
    elif isinstance(node, dict):
        if not names:
            yield place.lstrip("/") or "the document", node
        for key, child in node.items():
            if names or not (key in DATA or key == "x-support" or (key == "examples" and isinstance(child, list))):
                yield from objects(child, f"{place}/{key}", names=not names and key in NAMED)


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Every operation as (path, method, path item, operation)."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item, item[method]


def parameters(place: str, item: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The parameters of an operation that are in `path` or in `query`."""
    return [each for each in (*item.get("parameters", ()), *operation.get("parameters", ())) if each["in"] == place]


def media_types(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every media type object of bodies and responses, with its place; shared responses once, at their component."""
    for path, method, _, operation in operations(document):
        place = f"{method.upper()} {path}"
        for name, media in operation.get("requestBody", {}).get("content", {}).items():
            yield f"{place} request {name}", media
        for status, response in operation["responses"].items():
            for name, media in response.get("content", {}).items():
                yield f"{place} {status} {name}", media
    for shared, response in document["components"].get("responses", {}).items():
        for name, media in response.get("content", {}).items():
            yield f"response {shared} {name}", media


def all_schemas(document: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
    """Every schema of the document with its place, references not followed."""
    for name, schema in document["components"]["schemas"].items():
        yield from descend(schema, name)
    for place, media in media_types(document):
        for key in ("schema", "itemSchema"):
            if key in media:
                yield from descend(media[key], f"{place} {key}")
    for path, method, item, operation in operations(document):
        for parameter in (*item.get("parameters", ()), *operation.get("parameters", ())):
            yield from descend(parameter["schema"], f"{method.upper()} {path} parameter {parameter['name']}")
    for name, header in document["components"].get("headers", {}).items():
        yield from descend(header["schema"], f"header {name}")


def closure(document: dict[str, Any], *roots: str) -> set[str]:
    """The names of the component schemas that can be reached from some, themselves included."""
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
    """The names of the component schemas that one refers to directly."""
    return [component_name(child["$ref"]) for _, child in descend(schema, "") if "$ref" in child]
