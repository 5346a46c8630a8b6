"""A JSON Schema in words, short enough for a line of the terminal or a cell of the matrix."""

import json
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import component_name

LIMITS = {
    "const": "value",
    "enum": "values",
    "minimum": "at least",
    "exclusiveMinimum": "greater than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minLength": "shortest",
    "maxLength": "longest",
    "minItems": "fewest elements",
    "maxItems": "most elements",
    "maxProperties": "most entries",
    "pattern": "pattern",
}

EMPTY = {"maxLength": "an empty text", "maxItems": "an empty list", "maxProperties": "an empty object"}


def text(value: Any) -> str:
    """Returns one or several values as text."""
    if isinstance(value, list):
        return ", ".join(text(element) for element in value)
    # A line has no room for line ends, and an empty text would not be seen.
    if isinstance(value, str) and value and value.isprintable():
        return value
    return json.dumps(value, ensure_ascii=False)


def plain(schema: Schema) -> str:
    """Returns a type and its limits, as in `string (longest 64)`."""
    bounds = limits(schema)
    if "type" in schema:
        return text(schema["type"]) + (f" ({bounds})" if bounds else "")
    return bounds or "any value"


def limits(schema: Schema) -> str:
    return "; ".join(f"{words} {text(schema[key])}" for key, words in LIMITS.items() if key in schema)


def values(schema: Schema) -> str:
    """Returns the values that a schema accepts, as JSON if that doesn't fit into a few words."""
    for keyword, words in EMPTY.items():
        if schema.get(keyword) == 0 and schema.keys() <= {keyword, "type"}:
            return words
    match schema:
        case {"const": value, **others} if not others:
            return text(value)
        case {"enum": several, **others} if not others:
            return text(several)
        case {"anyOf": branches, **others} if not others:
            return " or ".join(values(branch) for branch in branches)
        case {"not": refused, **others} if not others:
            return f"all but {values(refused)}"
        case {"properties": properties, **others} if not others:
            return "; ".join(f"{name}: {values(child)}" for name, child in properties.items())
        case {"items": items, **others} if others in ({}, {"type": "array"}):
            return f"list of {values(items)}"
        case {"$ref": str(reference), **others} if not others:
            return component_name(reference)
    if schema.keys() <= {"type", *LIMITS}:
        return plain(schema)
    return json.dumps(schema, ensure_ascii=False)


def taken(entry: Schema) -> str:
    """Returns the values of a system, as far as its entry in x-support states them."""
    parts = []
    if "schema" in entry:
        parts.append(f"values {values(entry['schema'])}")
    if "nullable" in entry:
        parts.append("null, too" if entry["nullable"] else "never null")
    if (default := entry.get("default")) is not None:
        parts.append(f"default {text(default)}")
    if "required" in entry:
        parts.append(_required(entry["required"]))
    return "; ".join(parts)


def _required(required: bool | list[str]) -> str:
    if isinstance(required, list):
        return f"required in {text(required)}"
    return "required" if required else "not required"


def remark(note: str, taken: str) -> str:
    """Returns the remarks on a field's support in addition to the level."""
    return f"{note} ({taken})".strip() if taken else note
