"""Merges errors.yaml, the list of systems and the dialects' support levels into the bundled document."""

from collections.abc import Iterable
from typing import Any

from specvino.codegen.fields import Field, around, fields
from specvino.document.operations import Schema, by_endpoint
from specvino.document.pointers import component_name

# {level, schema?, nullable?, default?, required?, kinds?, note?}
Entry = dict[str, Any]

# The fields that share one property, and the system's entry for it.
MarkedFields = tuple[list[Field], Entry]

# Endpoint, part and path of a field.
FieldKey = tuple[str, str, str]

LEVELS = {
    "request": ("full", "partial", "ignored", "refused", "unknown"),
    "response": ("full", "partial", "absent", "unknown"),
    "stream": ("full", "partial", "absent", "unknown"),
}

# The level of fields that the system doesn't have.
WITHOUT = ("ignored", "refused", "absent")

# Who defined the APIs: a system with an endpoint states a level for each of its fields.
STANDARD = {"openai", "anthropic"}

# The levels that a dialect may state for a whole endpoint or part instead of its fields.
WHOLE_ENDPOINT = ("absent", "unknown")
WHOLE_PART = {
    "request": ("ignored", "refused", "unknown"),
    "response": ("absent", "unknown"),
    "stream": ("absent", "unknown"),
}


def merge_errors(document: dict[str, Any], errors: dict[str, Any]) -> None:
    """Fills the enums of ErrorType, ErrorCode and AnthropicErrorType."""
    schemas = document["components"]["schemas"]
    schemas["ErrorType"]["enum"] = list(errors["types"])
    schemas["ErrorCode"]["enum"] = list(errors["codes"])
    schemas["AnthropicErrorType"]["enum"] = list(dict.fromkeys(errors["anthropic_types"].values()))


def merge_systems(document: dict[str, Any], vocabulary: dict[str, Any], versions: Iterable[str]) -> None:
    """Fills the enums of `x-origin` and of the parameter `dialect` from the vocabulary's list of systems; the parameter
    also has the older versions, such as `vllm@0.29`."""
    systems = vocabulary["$defs"]["system"]["enum"]
    origin = vocabulary["$defs"]["x-origin"]
    origin["enum"] = [*systems, *origin["enum"]]
    (dialect,) = (
        parameter for parameter in by_endpoint(document)["openapi"].parameters if parameter["name"] == "dialect"
    )
    dialect["schema"]["enum"] = [*systems, *versions]


def own_entry(field: Field, dialect: dict[str, Any]) -> Entry | None:
    """Returns the dialect's own entry for a field."""
    parts = dialect.get("fields", {}).get(field.endpoint)
    paths = parts.get(field.part) if isinstance(parts, dict) else None
    entry = paths.get(field.path) if isinstance(paths, dict) else None
    return {"level": entry} if isinstance(entry, str) else entry


def part_level(endpoint: str, part: str, dialect: dict[str, Any]) -> str | None:
    """Returns the level of a whole part where a dialect gives one, such as `responses: absent` or `stream: absent`."""
    parts = dialect.get("fields", {}).get(endpoint)
    if isinstance(parts, str):
        return "refused" if (parts, part) == ("absent", "request") else parts
    level = parts.get(part) if isinstance(parts, dict) else None
    return level if isinstance(level, str) else None


def stated(listed: list[Field], dialect: dict[str, Any]) -> dict[FieldKey, Entry | None]:
    """Returns the dialect's entry for each field: its own, that of its part, or one inherited from an enclosing field.

    An enclosing field comes before the fields inside it, as in the result of `fields`.
    """
    by_key = {field.key: field for field in listed}
    result: dict[FieldKey, Entry | None] = {}
    for field in listed:
        if entry := own_entry(field, dialect):
            result[field.key] = entry
        elif level := part_level(field.endpoint, field.part, dialect):
            result[field.key] = {"level": level}
        else:
            keys = ((field.endpoint, field.part, path) for path in around(field.path))
            outer = next((by_key[key] for key in keys if key in by_key), None)
            result[field.key] = _inherited(field, outer, result[outer.key], dialect) if outer else None
    return result


def _inherited(field: Field, outer: Field, stated: Entry | None, dialect: dict[str, Any]) -> Entry | None:
    """Returns the entry that a field has by the one stated for the field around it."""
    entry = _applicable(outer, stated, dialect)
    if entry is None:
        return None
    level = entry.get("level")
    inherits = level in (*WITHOUT, "unknown") or (level == "full" and field.origins <= outer.origins)
    return {"level": level} if inherits else None


def _applicable(field: Field, entry: Entry | None, dialect: dict[str, Any]) -> Entry | None:
    """Returns the entry that applies to a field: the stated one, or the one for unknown fields."""
    if entry is None and not field.origins & STANDARD:
        return {"level": dialect["unknown_fields"] if field.part == "request" else "absent"}
    return entry


def support(listed: list[Field], dialect: dict[str, Any]) -> dict[str, Entry]:
    """Returns the dialect's entries by field name, without fields that it doesn't cover.

    A field without an entry inherits the level of the nearest enclosing field. Fields inside one that the system lacks
    are lacking as well. A field with full support includes the inner fields of the same origin; partial support implies
    nothing about them. Remaining fields that OpenAI didn't define are unknown to the system.
    """
    return applicable(listed, stated(listed, dialect), dialect)


def applicable(listed: list[Field], entries: dict[FieldKey, Entry | None], dialect: dict[str, Any]) -> dict[str, Entry]:
    """Returns what `support` returns, by the entries that `stated` has returned."""
    levels = ((field.name, _applicable(field, entries[field.key], dialect)) for field in listed)
    return {name: entry for name, entry in levels if entry is not None}


def merge_support(document: dict[str, Any], dialects: dict[str, dict[str, Any]]) -> None:
    """Writes x-support at every property: by field name (a component serves several endpoints), then by system."""
    listed = fields(document)
    by_system = {
        system: _written_out(support(listed, dialect), dialect.get("schemas", {}))
        for system, dialect in dialects.items()
    }
    for field in listed:
        for owner in field.owners:
            owner.setdefault("x-support", {})[field.name] = {
                system: entry["level"] if entry.keys() == {"level"} else entry
                for system, levels in by_system.items()
                if (entry := levels.get(field.name)) is not None
            }


def _written_out(node: Any, schemas: dict[str, Schema], outer: str = "") -> Any:
    """Returns entries without references to the system's own schemas, which only its document has: the schemas are in
    their place, without the values of the same kind inside them."""
    if isinstance(node, list):
        return [_written_out(child, schemas, outer) for child in node]
    if not schemas or not isinstance(node, dict):
        return node
    name = component_name(reference) if isinstance(reference := node.get("$ref"), str) else ""
    if name not in schemas:
        return {key: _written_out(child, schemas, outer) for key, child in node.items()}
    own = schemas[name]
    if outer:
        return {"type": own["type"]} if "type" in own else {}
    return _written_out({k: v for k, v in own.items() if k not in ("title", "description")}, schemas, name)
