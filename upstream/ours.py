"""What our document says of a system."""

from typing import Any

from specvino.document.operations import JSON, operations
from specvino.document.pointers import component_name, resolved, schema_reference
from specvino.document.walk import all_schemas
from specvino.upstream.described import Described, Part, Schema

_ERROR = schema_reference("ErrorResponse")


def described(document: dict[str, Any]) -> Described:
    """Returns the parts of the document of a system."""
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
    """Returns the schema of events without that of an error, which is a part of its own."""
    return {
        key: [branch for branch in value if branch.get("$ref") != _ERROR] if key in ("anyOf", "oneOf") else value
        for key, value in event.items()
    }


def levels(whole: dict[str, Any], system: str) -> dict[str, str]:
    """Returns how a system supports each field of the whole document, by the field's name."""
    found: dict[str, str] = {}
    for _, schema in all_schemas(whole):
        for name, systems in schema.get("x-support", {}).items():
            if (entry := systems.get(system)) is not None:
                found[name] = entry if isinstance(entry, str) else entry["level"]
    return found
