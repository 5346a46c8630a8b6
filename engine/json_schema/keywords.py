"""Keywords of JSON Schema: what they say between the lines."""

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
