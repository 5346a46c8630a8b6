"""The keywords of JSON Schema that a grammar enforces. Keywords in neither table are annotations."""

LARK = "x-specvino-lark"
"""Our own keyword: the Lark grammar of a string."""

# Enforced, unless the conversion reports them as unenforced.
ENFORCED = frozenset(
    {
        "$ref",
        "additionalItems",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "dependentRequired",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "items",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
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
        "uniqueItems",
        LARK,
    }
)

# Enforced only with `enum` and `const`, whose values are validated against the whole schema. With the type of value
# that each constrains; None is any type.
UNENFORCED: dict[str, str | None] = {
    "$dynamicRef": None,
    "$recursiveRef": None,
    "dependencies": "object",
    "dependentSchemas": "object",
    "else": None,
    "not": None,
    "then": None,
    "unevaluatedItems": "array",
    "unevaluatedProperties": "object",
}


# The type that a keyword implies if `type` is absent: only values of that type are allowed.
IMPLIED_TYPE = {
    "additionalProperties": "object",
    "contains": "array",
    "dependencies": "object",
    "dependentRequired": "object",
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
    "uniqueItems": "array",
    "format": "string",
    "maximum": "number",
    "minimum": "number",
    "exclusiveMaximum": "number",
    "exclusiveMinimum": "number",
    "multipleOf": "number",
    LARK: "string",
}
