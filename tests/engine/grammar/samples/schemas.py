"""Schemas that grammars enforce in full, each with the keyword that it tests."""

from typing import Any

OBJECT = {"type": "object"}
NODE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["value", "next"],
    "additionalProperties": False,
}
A = {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind"]}
B = {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "string"}}, "required": ["kind", "y"]}

SCHEMAS: list[tuple[str, dict[str, Any]]] = [
    ("type", {"type": "string"}),
    ("type", {"type": "integer"}),
    ("type", {"type": "number"}),
    ("type", {"type": "boolean"}),
    ("type", {"type": "null"}),
    ("type", {"type": "array"}),
    ("type", OBJECT),
    ("type", {"type": ["string", "integer", "null"]}),
    ("x-specvino-lark", {"x-specvino-lark": 'start: "a" | "b" start'}),
    ("enum", {"enum": ["a", 1, 2.5, None, True, {"x": [1, "é"]}, 'quote "', "back\\slash", "line\nend"]}),
    ("enum", {"enum": ["a", 1, "b"], "type": "string"}),
    ("enum", {"enum": [1, 2, 3, 4, 6], "multipleOf": 2, "not": {"const": 4}}),
    ("const", {"const": {"k": [1, None]}}),
    ("properties", {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}),
    ("required", {"type": "object", "properties": {"a": OBJECT, "b": {"type": "null"}}, "required": ["b"]}),
    ("required", {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["z"]}),
    ("additionalProperties", {"type": "object", "additionalProperties": {"type": "integer"}}),
    ("additionalProperties", {"type": "object", "additionalProperties": False}),
    (
        "additionalProperties",
        {
            "type": "object",
            "properties": {"ab": {"type": "integer"}, "ac": {"type": "integer"}, "é": {"type": "integer"}},
            "required": ["ab"],
            "additionalProperties": {"type": "boolean"},
        },
    ),
    ("patternProperties", {"type": "object", "patternProperties": {"^x_[a-z]+$": {"type": "null"}}}),
    ("patternProperties", {"properties": {"x_a": {"type": "integer"}}, "patternProperties": {"^x": {"minimum": 3}}}),
    ("propertyNames", {"type": "object", "propertyNames": {"enum": ["p", "q"]}, "additionalProperties": {"const": 1}}),
    ("propertyNames", {"type": "object", "propertyNames": {"pattern": "^[a-z]{3}$"}}),
    ("minProperties", {"type": "object", "minProperties": 1}),
    ("maxProperties", {"type": "object", "maxProperties": 2}),
    ("items", {"type": "array", "items": {"type": "integer", "minimum": 0}}),
    ("items", {"type": "array", "items": False}),
    (
        "additionalItems",
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array",
            "items": [{"const": 1}],
            "additionalItems": {"const": 2},
        },
    ),
    ("prefixItems", {"type": "array", "prefixItems": [{"const": 1}, {"type": "string"}], "items": {"type": "null"}}),
    ("prefixItems", {"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": False, "minItems": 1}),
    ("minItems", {"type": "array", "items": {"const": 0}, "minItems": 3}),
    ("maxItems", {"type": "array", "items": {"const": 0}, "maxItems": 2}),
    ("maxItems", {"type": "array", "items": {"const": 0}, "minItems": 40, "maxItems": 99}),
    ("maxItems", {"type": "array", "items": {"const": 0}, "maxItems": 0}),
    ("minLength", {"type": "string", "minLength": 5}),
    ("minLength", {"type": "string", "minLength": 70, "maxLength": 200}),
    ("maxLength", {"type": "string", "maxLength": 3}),
    ("maxLength", {"type": "string", "maxLength": 0}),
    ("maxLength", {"type": "string", "pattern": '^[a-z"]{2,9}$', "maxLength": 4}),
    ("pattern", {"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}),
    ("pattern", {"type": "string", "pattern": 'b"[^a]\\\\'}),
    ("pattern", {"type": "string", "pattern": "^(?:a|bc)*\\.(x{2}|y?)$|^z"}),
    # This is what pydantic writes for Decimal.
    ("pattern", {"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}),
    ("pattern", {"type": "string", "pattern": "^(?<year>\\d{4})/[\\w.-]+\\s$"}),
    *(
        ("format", {"type": "string", "format": name})
        for name in ("date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid")
    ),
    ("minimum", {"type": "integer", "minimum": 17}),
    ("maximum", {"type": "integer", "minimum": -250, "maximum": 1031}),
    ("exclusiveMinimum", {"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
    ("exclusiveMaximum", {"type": "number", "minimum": -2.25, "exclusiveMaximum": 3.125}),
    (
        "exclusiveMinimum",
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "type": "integer",
            "minimum": 4,
            "exclusiveMinimum": True,
            "maximum": 6,
        },
    ),
    ("multipleOf", {"type": "integer", "multipleOf": 7, "minimum": -20, "maximum": 100}),
    ("multipleOf", {"type": "integer", "multipleOf": 100, "minimum": -320}),
    ("multipleOf", {"type": "number", "multipleOf": 0.25, "enum": [1, 0.5, 0.3]}),
    ("anyOf", {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "array", "items": {"type": "null"}}]}),
    (
        "anyOf",
        {"properties": {"a": {"const": 1}, "b": {"const": 2}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    ),
    ("oneOf", {"oneOf": [{"type": "integer"}, {"type": "string"}]}),
    ("oneOf", {"oneOf": [A, B]}),
    ("allOf", {"allOf": [{"type": "string", "minLength": 2}, {"maxLength": 4}, {"minLength": 3}]}),
    (
        "allOf",
        {
            "allOf": [
                {"properties": {"a": {"minimum": 3}}},
                {"properties": {"a": {"type": "integer", "maximum": 9}}, "required": ["a"]},
            ]
        },
    ),
    ("$ref", {"$defs": {"node": NODE}, "$ref": "#/$defs/node"}),
    ("$ref", {"definitions": {"a b/c": {"const": 5}}, "type": "array", "items": {"$ref": "#/definitions/a%20b~1c"}}),
    ("$ref", {"type": "object", "properties": {"child": {"$ref": "#"}}}),
]
