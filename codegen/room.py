"""Whether a system can have a field, by the schema that a dialect's row states for another one: the field around it, or
the `type` of the objects that have it."""

from typing import Any

from specvino.codegen.fields import Field
from specvino.document.operations import Schema
from specvino.document.unions import texts, values

KIND = "type"
"""The property that tells objects of several kinds apart."""


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


def kind_path(path: str) -> str:
    """Returns the path of the `type` of the objects that have a field."""
    around, dot, _ = path.rpartition(".")
    return f"{around}{dot}{KIND}"


def has_kind(field: Field, types: Schema) -> bool:
    """Returns whether an object with the field can be of a kind that a schema of its `type` allows. Only a list of
    values excludes kinds, and an object whose `type` may have any value is of all kinds."""
    allowed = values(types)
    kinds = [values(outer["properties"].get(KIND, {})) for outer in field.objects]
    return allowed is None or any(not texts(of) or not set(texts(of)).isdisjoint(texts(allowed)) for of in kinds)
