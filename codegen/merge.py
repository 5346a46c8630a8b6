"""Merges errors.yaml, the list of systems and the dialects' support levels into the bundled document."""

from typing import Any

from specvino.codegen.fields import Field, around, fields
from specvino.document.operations import by_endpoint

# {level, schema?, nullable?, default?, required?, kinds?, note?}
Entry = dict[str, Any]

# What a system says of one property, and the fields that the property is.
Said = tuple[list[Field], Entry]

# Fields by endpoint, part and path.
Places = dict[tuple[str, str, str], Field]

LEVELS = {
    "request": ("full", "partial", "ignored", "refused", "unknown"),
    "response": ("full", "partial", "absent", "unknown"),
    "stream": ("full", "partial", "absent", "unknown"),
}

# The system does as if there were no such field.
WITHOUT = ("ignored", "refused", "absent")

# What may be said of a whole endpoint, or of a whole part of it, instead of its fields.
WHOLE_ENDPOINT = ("absent", "unknown")
WHOLE_PART = {
    "request": ("ignored", "refused", "unknown"),
    "response": ("absent", "unknown"),
    "stream": ("absent", "unknown"),
}


def merge_errors(document: dict[str, Any], errors: dict[str, Any]) -> None:
    """Fills the enums of ErrorType and ErrorCode."""
    schemas = document["components"]["schemas"]
    schemas["ErrorType"]["enum"] = list(errors["types"])
    schemas["ErrorCode"]["enum"] = list(errors["codes"])


def merge_systems(document: dict[str, Any], vocabulary: dict[str, Any]) -> None:
    """Fills the enums of `x-origin` and of the parameter `dialect` from the vocabulary's list of systems."""
    systems = vocabulary["$defs"]["system"]["enum"]
    origin = vocabulary["$defs"]["x-origin"]
    origin["enum"] = [*systems, *origin["enum"]]
    (dialect,) = (each for each in by_endpoint(document)["openapi"].parameters if each["name"] == "dialect")
    dialect["schema"]["enum"] = list(systems)


def own_entry(field: Field, dialect: dict[str, Any]) -> Entry | None:
    """Returns what a dialect says of the field itself."""
    parts = dialect.get("fields", {}).get(field.endpoint)
    paths = parts.get(field.part) if isinstance(parts, dict) else None
    entry = paths.get(field.path) if isinstance(paths, dict) else None
    return {"level": entry} if isinstance(entry, str) else entry


def part_level(endpoint: str, part: str, dialect: dict[str, Any]) -> str | None:
    """Returns the level of all fields of a part, where a dialect gives one: `responses: absent`, `stream: absent`."""
    parts = dialect.get("fields", {}).get(endpoint)
    if isinstance(parts, str):
        return "refused" if (parts, part) == ("absent", "request") else parts
    level = parts.get(part) if isinstance(parts, dict) else None
    return level if isinstance(level, str) else None


def _around(field: Field, places: Places) -> Field | None:
    """Returns the nearest field around one."""
    keys = ((field.endpoint, field.part, path) for path in around(field.path))
    return next((places[key] for key in keys if key in places), None)


def stated(field: Field, places: Places, dialect: dict[str, Any]) -> Entry | None:
    """Returns what a dialect says of a field, by an entry of its own, of its whole part or of a field around it."""
    if entry := own_entry(field, dialect):
        return entry
    if level := part_level(field.endpoint, field.part, dialect):
        return {"level": level}
    outer = _around(field, places)
    given = _said(outer, places, dialect) if outer else None
    if outer is None or given is None:
        return None
    level = given.get("level")
    inherits = level in (*WITHOUT, "unknown") or (level == "full" and field.origins <= outer.origins)
    return {"level": level} if inherits else None


def _said(field: Field, places: Places, dialect: dict[str, Any]) -> Entry | None:
    """Returns what holds for a field: what is stated of it, or that it is unknown to the system."""
    entry = stated(field, places, dialect)
    if entry is None and "openai" not in field.origins:
        return {"level": dialect["unknown_fields"] if field.part == "request" else "absent"}
    return entry


def support(found: list[Field], dialect: dict[str, Any]) -> dict[str, Entry]:
    """Returns what a dialect says of each field, by the field's name; those of which it says nothing are left out.

    A field without an entry has the level of the nearest field around it that has one. Every field inside one that a
    system is without is so too; what a system has in full, it has with all fields of the same origin; partial says
    nothing about the fields inside. What is left and wasn't defined by OpenAI is unknown to the system.
    """
    places = {(field.endpoint, field.part, field.path): field for field in found}
    result = {}
    for field in found:
        if (entry := _said(field, places, dialect)) is not None:
            result[field.name] = entry
    return result


def merge_support(document: dict[str, Any], dialects: dict[str, dict[str, Any]]) -> None:
    """Writes x-support at every property: by field name (a component serves several endpoints), then by system."""
    found = fields(document)
    by_system = {system: support(found, dialect) for system, dialect in dialects.items()}
    for field in found:
        for owner in field.owners:
            owner.setdefault("x-support", {})[field.name] = {
                system: entry["level"] if entry.keys() == {"level"} else entry
                for system, levels in by_system.items()
                if (entry := levels.get(field.name)) is not None
            }
