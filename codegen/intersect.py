"""A schema that also keeps another one's bounds."""

from typing import Any

from specvino.document.operations import Schema

LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
SINGLE = ("const", "pattern", "multipleOf", "format")


def intersect(schema: Schema, bounds: Schema) -> Schema:
    """Returns a schema that accepts what both accept.

    Plain bounds are written into the schema, since generators make odd classes of `allOf`; where that can't be done
    the two stand in an `allOf`, a reference too: few tools look at what stands beside a `$ref`.
    """
    merged = None if "$ref" in schema else _merged(schema, bounds)
    if merged is not None:
        return merged
    rest = dict(schema)
    inner = [{"$ref": rest.pop("$ref")}] if "$ref" in rest else rest.pop("allOf", [])
    return rest | {"allOf": [*inner, bounds]}


def _merged(schema: Schema, bounds: Schema) -> Schema | None:
    merged = dict(schema)
    for key, value in bounds.items():
        here = schema.get(key)
        if key in LOWER or key in UPPER:
            merged[key] = value if here is None else max(here, value) if key in LOWER else min(here, value)
        elif key == "type" or key == "enum":
            common = value if key not in schema else _common(here, value)
            if not common:
                return None
            merged[key] = common
        elif key in SINGLE and key not in schema:
            merged[key] = value
        else:
            return None
    return merged


def _common(here: Any, there: Any) -> Any:
    """Returns the types or values that are in both; a single type is a string."""
    ours, theirs = ([each] if isinstance(each, str) else list(each) for each in (here, there))
    found = [each for each in ours if each in theirs]
    if "number" in ours and "integer" in theirs and "number" not in theirs:
        found.append("integer")
    return found[0] if len(found) == 1 and not (isinstance(here, list) and isinstance(there, list)) else found
