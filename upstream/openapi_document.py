"""Reads OpenAPI documents: ours of a system, or the system's own, such as FastAPI's /openapi.json."""

from pathlib import Path
from typing import Any

from specvino.document import foreign
from specvino.document.operations import EVENTS, JSON, Operation, base_paths, operations
from specvino.document.pointers import component_name, resolved, schema_reference
from specvino.document.walk import all_schemas, descend
from specvino.upstream.described import Described, Part, Schema, Unreadable

_ERROR = schema_reference("ErrorResponse")


def of_document(document: dict[str, Any]) -> Described:
    """Returns the parts of our document of a system."""
    parts: dict[Part, Schema] = {}
    for operation in operations(document):
        if operation.body:
            parts[operation.endpoint, "request"] = operation.body
        if JSON in operation.content():
            parts[operation.endpoint, "response"] = operation.content()[JSON]["schema"]
        if operation.event:
            parts[operation.endpoint, "stream"] = _without_errors(resolved(document, operation.event))
    if component_name(_ERROR) in document["components"]["schemas"]:
        parts["error", "response"] = {"$ref": _ERROR}
    return Described(document, parts)


def _without_errors(event: Schema) -> Schema:
    """Returns the schema of events without the error, which is a separate part."""
    return {
        key: [branch for branch in value if branch.get("$ref") != _ERROR] if key in ("anyOf", "oneOf") else value
        for key, value in event.items()
    }


def levels(document: dict[str, Any], system: str, others: dict[str, Any] | None = None) -> dict[str, str]:
    """Returns a system's level for each field of the whole document, by field name. others: entries that a version
    has instead."""
    result: dict[str, str] = {}
    for _, schema in all_schemas(document):
        for name, systems in schema.get("x-support", {}).items():
            if (entry := (others or {}).get(name, systems.get(system))) is not None:
                result[name] = entry if isinstance(entry, str) else entry["level"]
    return result


def of_file(path: Path, ours: dict[str, Any]) -> Described:
    """Returns the parts of a document in a file, for the operations of `ours` under the same path or below a base path.

    Raises Unreadable if the file isn't an OpenAPI document of version 3.
    """
    document = _read(path)
    for name, schema in document["components"]["schemas"].items():
        modernise(schema, schema_reference(name))
    parts: dict[Part, Schema] = {}
    for operation in operations(ours):
        definition = _same(operation, document, base_paths(ours))
        body = resolved(document, definition.get("requestBody", {})).get("content", {})
        answer = resolved(document, definition.get("responses", {}).get("200", {})).get("content", {})
        for part, content, media in (
            ("request", body, JSON),
            ("response", answer, JSON),
            ("stream", answer, EVENTS),
        ):
            if schema := content.get(media, {}).get("schema"):
                parts[operation.endpoint, part] = schema
    return Described(document, parts)


def modernise(schema: Schema, root: str) -> None:
    """Converts older keywords to JSON Schema 2020-12, in place: `nullable`, `exclusiveMinimum: true`, and
    `$recursiveRef`, which becomes the reference `root`."""
    for _, node in list(descend(schema, "")):
        for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(node.get(exclusive), bool) and node.pop(exclusive):
                node[exclusive] = node.pop(bound)
        if "$recursiveRef" in node:
            del node["$recursiveRef"]
            node["$ref"] = root
        node.pop("$recursiveAnchor", None)
        if node.pop("nullable", False):
            beside: Schema = {key: node.pop(key) for key in ("default", "description", "title") if key in node}
            beside["anyOf"] = [dict(node), {"type": "null"}]
            node.clear()
            node.update(beside)


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} can't be read: {error}") from None
    try:
        document = foreign.parse(text)
    except ValueError as error:
        raise Unreadable(f"{path} {error}") from None
    document.setdefault("components", {}).setdefault("schemas", {})
    return document


def _same(operation: Operation, document: dict[str, Any], bases: tuple[str, ...]) -> dict[str, Any]:
    """Returns the definition of an operation in another document; empty if there is none."""
    for base in ("", *bases):
        item = document.get("paths", {}).get(base.rstrip("/") + operation.path, {})
        if operation.method.lower() in item:
            definition: dict[str, Any] = item[operation.method.lower()]
            return definition
    return {}
