"""A JSON Schema in words, short enough for a line of the terminal or a cell of the matrix."""

import json
import re
from collections.abc import Iterator
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import component_name

# With the noun that is counted.
LIMITS = {
    "const": ("value", ""),
    "enum": ("values", ""),
    "minimum": ("at least", ""),
    "exclusiveMinimum": ("greater than", ""),
    "maximum": ("at most", ""),
    "exclusiveMaximum": ("less than", ""),
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "element"),
    "maxItems": ("at most", "element"),
    "maxProperties": ("at most", "member"),
    "pattern": ("pattern", ""),
}

# The keywords that have words here, beside those without effect on values.
WORDED = {
    "type",
    *LIMITS,
    *("items", "prefixItems", "contains", "properties", "required", "additionalProperties", "propertyNames"),
    *("anyOf", "oneOf", "allOf", "not", "$ref"),
}
WITHOUT_EFFECT = {"title", "description"}

EMPTY = {"maxLength": "an empty text", "maxItems": "an empty list", "maxProperties": "an empty object"}


def text(value: Any) -> str:
    """Returns one or several values as text."""
    if isinstance(value, list) and value:
        return ", ".join(text(element) for element in value)
    if isinstance(value, dict) and value:
        return ", ".join(f"{name}: {text(member)}" for name, member in value.items())
    # A line has no room for line ends, and an empty text would not be seen.
    if isinstance(value, str) and value and value.isprintable():
        return value
    return json.dumps(value, ensure_ascii=False)


def plain(schema: Schema) -> str:
    """Returns a type and its limits, as in `string (at most 64 characters)`."""
    bounds = limits(schema)
    if "type" in schema:
        return types(schema) + (f" ({bounds})" if bounds else "")
    return bounds or "any value"


def types(schema: Schema) -> str:
    """Returns the types of a schema that states some."""
    *others, last = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    return f"{', '.join(others)} or {last}" if others else str(last)


def limits(schema: Schema) -> str:
    return "; ".join(" ".join(limit) for limit in each_limit(schema))


def each_limit(schema: Schema) -> Iterator[tuple[str, str]]:
    """Yields the limits of a schema, as in `("at most", "64 characters")`."""
    for keyword, (words, noun) in LIMITS.items():
        if keyword in schema:
            counted = f" {noun}{'' if schema[keyword] == 1 else 's'}" if noun else ""
            yield words, text(schema[keyword]) + counted


def values(schema: Schema) -> str:
    """Returns the values that a schema accepts, in words."""
    for keyword, words in EMPTY.items():
        if schema.get(keyword) == 0 and schema.keys() <= {keyword, "type"}:
            return words
    match schema:
        case {"const": value, **others} if not others:
            return text(value)
        case {"enum": several, **others} if not others:
            return text(several)
        case {"anyOf": branches, **others} if not others:
            return " or ".join(_inner(branch) for branch in branches)
        case {"not": refused, **others} if not others:
            return f"all but {_inner(refused)}"
        case {"properties": properties, **others} if not others:
            return "; ".join(f"{name}: {_inner(child)}" for name, child in properties.items())
        case {"items": items, **others} if others in ({}, {"type": "array"}):
            return f"list of {_inner(items)}"
        case {"$ref": str(reference), **others} if not others:
            return component_name(reference)
    if schema.keys() <= {"type", *LIMITS}:
        return plain(schema)
    return _together(schema)


def _together(schema: Schema) -> str:
    """Returns what several keywords state: types and limits, then what is inside lists and objects, then the rest."""
    if unknown := schema.keys() - WORDED - WITHOUT_EFFECT:
        raise ValueError(f"no words for {', '.join(sorted(unknown))} in a schema")
    parts = [plain({key: value for key, value in schema.items() if key in ("type", *LIMITS)})]
    if isinstance(items := schema.get("items"), dict):
        parts.append(f"elements: {_inner(items)}")
    if first := schema.get("prefixItems"):
        parts.append(f"first elements: {', '.join(_inner(item) for item in first)}")
    if wanted := schema.get("contains"):
        parts.append(f"with an element {_inner(wanted)}")
    members = {name: _inner(member) for name, member in schema.get("properties", {}).items()}
    required = schema.get("required", [])
    parts += [f"{name}{' (required)' if name in required else ''}: {words}" for name, words in members.items()]
    if without := [name for name in required if name not in members]:
        parts.append(f"requires {text(without)}")
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        parts.append(f"{'other ' if members else ''}members: {_inner(others)}")
    elif others is False:
        parts.append("no other members")
    if names := schema.get("propertyNames"):
        parts.append(f"names: {_inner(names)}")
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            parts.append(" or ".join(_inner(branch) for branch in schema[keyword]))
    parts += [_inner(branch) for branch in schema.get("allOf", ())]
    if "not" in schema:
        parts.append(f"but not {_inner(schema['not'])}")
    if reference := schema.get("$ref"):
        parts.append(component_name(reference))
    return "; ".join(part for part in parts if part != "any value") or "any value"


def _inner(schema: Schema) -> str:
    """Returns the words for a part of a schema, in parentheses if they have several parts themselves."""
    words = values(schema)
    outside = words
    while (inner := re.sub(r"\([^()]*\)", "", outside)) != outside:
        outside = inner
    return f"({words})" if "; " in outside else words


def taken(entry: Schema) -> str:
    """Returns the values of a system, as far as its entry in x-support states them."""
    parts = []
    if "schema" in entry:
        several = "values " if entry["schema"].keys() <= {"const", "enum"} else ""
        parts.append(several + values(entry["schema"]))
    if "nullable" in entry:
        parts.append("may be null" if entry["nullable"] else "never null")
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
