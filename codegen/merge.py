"""Merges errors.yaml and the dialects' support levels into the bundled document."""

from typing import Any

from specvino.codegen.fields import Field, fields

LEVELS = {
    "request": ("full", "partial", "ignored", "refused", "unknown"),
    "response": ("full", "partial", "absent", "unknown"),
    "stream": ("full", "partial", "absent", "unknown"),
}


def merge_errors(document: dict[str, Any], errors: dict[str, Any]) -> None:
    """Fills the enums of ErrorType and ErrorCode."""
    schemas = document["components"]["schemas"]
    schemas["ErrorType"]["enum"] = list(errors["types"])
    schemas["ErrorCode"]["enum"] = list(errors["codes"])


def support_of(field: Field, dialect: dict[str, Any]) -> dict[str, Any] | None:
    """A dialect's entry for a field as {level, …}, or None where it has none."""
    entry = dialect.get("fields", {}).get(field.endpoint, {}).get(field.part, {}).get(field.path)
    return {"level": entry} if isinstance(entry, str) else entry


def merge_support(document: dict[str, Any], dialects: dict[str, dict[str, Any]]) -> None:
    """Writes x-support at every property: by field name (a component serves several endpoints), then by system."""
    for field in fields(document):
        by_system = {system: support_of(field, dialect) for system, dialect in dialects.items()}
        for owner in field.owners:
            owner.setdefault("x-support", {})[field.name] = {
                system: entry["level"] if entry.keys() == {"level"} else entry
                for system, entry in by_system.items()
                if entry is not None
            }
