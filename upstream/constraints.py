"""The keywords of JSON Schema that pydantic's bounds become."""

from collections.abc import Iterable
from typing import Any

from specvino.upstream.described import Schema

# pydantic has one word for the sizes of texts, lists and objects: each keyword judges its own type alone.
_KEYWORDS = {
    "ge": ("minimum",),
    "gt": ("exclusiveMinimum",),
    "le": ("maximum",),
    "lt": ("exclusiveMaximum",),
    "multiple_of": ("multipleOf",),
    "pattern": ("pattern",),
    "regex": ("pattern",),
    "min_length": ("minLength", "minItems", "minProperties"),
    "max_length": ("maxLength", "maxItems", "maxProperties"),
    "min_items": ("minItems",),
    "max_items": ("maxItems",),
}

# annotated_types' markers, which are given their bound by position.
MARKERS = {
    "Ge": ("ge",),
    "Gt": ("gt",),
    "Le": ("le",),
    "Lt": ("lt",),
    "MultipleOf": ("multiple_of",),
    "MinLen": ("min_length",),
    "MaxLen": ("max_length",),
    "Len": ("min_length", "max_length"),
    "Interval": (),
    "StringConstraints": (),
    "Field": (),
}

# pydantic's types that are another with bounds.
BOUNDED: dict[str, Schema] = {
    "PositiveInt": {"type": "integer", "exclusiveMinimum": 0},
    "NonNegativeInt": {"type": "integer", "minimum": 0},
    "NegativeInt": {"type": "integer", "exclusiveMaximum": 0},
    "NonPositiveInt": {"type": "integer", "maximum": 0},
    "PositiveFloat": {"type": "number", "exclusiveMinimum": 0},
    "NonNegativeFloat": {"type": "number", "minimum": 0},
    "NegativeFloat": {"type": "number", "exclusiveMaximum": 0},
    "NonPositiveFloat": {"type": "number", "maximum": 0},
}

# Functions that return a type, and which.
MAKERS: dict[str, Schema] = {
    "conint": {"type": "integer"},
    "confloat": {"type": "number"},
    "constr": {"type": "string"},
    "conlist": {"type": "array"},
}


def keywords(bounds: Iterable[tuple[str, Any]]) -> Schema:
    """Returns the keywords of bounds such as `("ge", 0)`; words that are none are left out."""
    return {keyword: value for word, value in bounds if value is not None for keyword in _KEYWORDS.get(word, ())}


def bounded(schema: Schema, bounds: Schema) -> Schema:
    """Returns a schema with further bounds, which hold beside its own."""
    if not bounds:
        return schema
    return {"allOf": [schema, bounds]} if schema.keys() & bounds.keys() else {**schema, **bounds}
