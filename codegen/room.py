"""Whether a field can have inner fields, by the schema that a dialect's row states for it."""

from typing import Any


def has_room(schema: Any, inner: str) -> bool:
    """Returns whether a schema allows a value with a field at a path inside it, such as `.url` or `[].name`: an object
    that isn't empty, or such a list.

    Only what the schema says about the value itself counts: a reference, or a schema without a type, may be anything.
    """
    if not isinstance(schema, dict):
        return schema is not False
    kind, most = (list, "maxItems") if inner.startswith("[]") else (dict, "maxProperties")
    if "const" in schema or "enum" in schema:
        return any(isinstance(value, kind) and value for value in schema.get("enum", [schema.get("const")]))
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if branches and not any(has_room(branch, inner) for branch in branches):
        return False
    types = schema.get("type", ["array", "object"])
    return ("array" if kind is list else "object") in types and schema.get(most) != 0
