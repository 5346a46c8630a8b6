"""The bounds of this project's document, which are those of its own server: no other system's document has them."""

from typing import Any

from specvino.document.operations import Schema
from specvino.document.walk import all_schemas

# The bounds of each type of value.
NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
BOUNDS = {
    "integer": NUMBERS,
    "number": NUMBERS,
    "string": ("minLength", "maxLength", "pattern", "format"),
    "array": ("minItems", "maxItems", "uniqueItems", "contains"),
    "object": ("minProperties", "maxProperties", "propertyNames", "dependentRequired"),
}
ALL_BOUNDS = frozenset(keyword for keywords in BOUNDS.values() for keyword in keywords)


def drop_bounds(document: dict[str, Any]) -> None:
    """Removes bounds, defaults and rules between fields from all schemas, in place.

    They are facts of a server, not of the API: a dialect says which its system has.
    """
    for _, schema in all_schemas(document):
        for keyword in (*ALL_BOUNDS, "default"):
            schema.pop(keyword, None)
        # A free-form object has nothing else that tells it from the other branches of a union.
        if "properties" in schema or schema.get("not", {}).keys() & {"const", "enum"}:
            schema.pop("not", None)
        if rules := [rule for rule in schema.pop("allOf", ()) if not _is_rule(rule)]:
            schema["allOf"] = rules


def _is_rule(schema: Schema) -> bool:
    return "if" in schema
