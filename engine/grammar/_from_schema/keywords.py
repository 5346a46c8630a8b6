"""The keywords of JSON Schema that a grammar enforces. Keywords in neither table are notes: they constrain nothing."""

# Enforced in full, or wherever the text in `schema.py` and `strings.py` doesn't note them as unenforced.
ENFORCED = frozenset(
    {
        "$ref",
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "required",
        "type",
    }
)

# Never enforced, beside `enum` and `const`, whose values are tested against the whole schema. By the type of value that
# they constrain; None is any.
UNENFORCED: dict[str, str | None] = {
    "$dynamicRef": None,
    "$recursiveRef": None,
    "contains": "array",
    "dependencies": "object",
    "dependentRequired": "object",
    "dependentSchemas": "object",
    "else": None,
    "not": None,
    "then": None,
    "unevaluatedItems": "array",
    "unevaluatedProperties": "object",
    "uniqueItems": "array",
}


# What a keyword says of the type where `type` doesn't: only such values are written.
IMPLIED_TYPE = {
    "additionalProperties": "object",
    "items": "array",
    "maxItems": "array",
    "maxLength": "string",
    "maxProperties": "object",
    "minItems": "array",
    "minLength": "string",
    "minProperties": "object",
    "pattern": "string",
    "patternProperties": "object",
    "prefixItems": "array",
    "properties": "object",
    "propertyNames": "object",
    "required": "object",
    "format": "string",
    "maximum": "number",
    "minimum": "number",
    "exclusiveMaximum": "number",
    "exclusiveMinimum": "number",
    "multipleOf": "number",
}
