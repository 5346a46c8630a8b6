"""A form of answers for each construct that grammars are made of, for measuring what each costs.

Short values stand in lists, so that a text isn't over after three tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from support.formats import Function

from specvino.engine.grammar import ANY_TEXT, constant, either, json_schema, regex, sequence, tag
from specvino.engine.output_parsers import REASONING_PARSERS, TOOL_PARSERS, forced_call_grammar
from specvino.engine.request import Constraint, JsonSchema, StructuralTag

Schema = Mapping[str, Any]

STRING: Schema = {"type": "string"}
# As zod 4 has it for e-mail addresses: nothing doubled, and no dot at the start.
EMAIL = r"^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
INTEGER: Schema = {"type": "integer"}
NODE: Schema = {
    "type": "object",
    "properties": {"name": STRING, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "required": ["name", "children"],
    "additionalProperties": False,
}
SHAPES: Sequence[Schema] = [
    {
        "type": "object",
        "properties": {"kind": {"const": kind}, "name": {"type": "string", "maxLength": 30}, "size": INTEGER},
        "required": ["kind", "name", "size"],
        "additionalProperties": False,
    }
    for kind in ("circle", "square", "line")
]
TOOLS: Sequence[Function] = (
    Function(
        "write_note",
        {
            "type": "object",
            "properties": {
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
                "title": {"type": "string", "maxLength": 40},
                "body": STRING,
                "tags": {"type": "array", "items": STRING},
            },
            "required": ["days", "unit", "code", "title", "body"],
        },
    ),
    Function("now", {"type": "object", "properties": {}}),
)


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items, "minItems": 32}


def closed(properties: Schema, *, required: bool = True) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required else [],
        "additionalProperties": False,
    }


COMBINATIONS: dict[str, Schema] = {
    "date by format and pattern": {"format": "date", "pattern": r"^\d{4}-(?:0[1-9]|1[0-2])-\d\d$"},
    "e-mail by format and pattern": {"format": "email", "pattern": EMAIL},
    "e-mail by pattern, up to 254 characters": {"pattern": EMAIL, "maxLength": 254},
    "e-mail, up to 50 characters": {"format": "email", "maxLength": 50},
    "URL, 1 to 2,083 characters": {"format": "uri", "minLength": 1, "maxLength": 2083},
    "slug, 3 to 63 characters": {"pattern": "^[a-z0-9]+(?:-[a-z0-9]+)*$", "minLength": 3, "maxLength": 63},
    "password of several lookaheads": {"pattern": r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{8,}$", "maxLength": 64},
    "three patterns": {"pattern": "^[a-z]", "allOf": [{"pattern": "[0-9]"}, {"pattern": "z$"}]},
}

SCHEMAS: dict[str, Schema] = {
    "string": listed(STRING),
    "string, 1 to 40 characters": listed({"type": "string", "minLength": 1, "maxLength": 40}),
    "string, up to 500 characters": {"type": "string", "maxLength": 500},
    "string, up to 20,000 characters": {"type": "string", "maxLength": 20_000},
    "string, 200 characters and more": {"type": "string", "minLength": 200},
    "string, 40 to 500 characters": {"type": "string", "minLength": 40, "maxLength": 500},
    "pattern, short": listed({"type": "string", "pattern": r"^[A-Z]{2}-\d+$"}),
    "pattern, not anchored": listed({"type": "string", "pattern": "b[^a]c"}),
    "pattern, counted letters": listed({"type": "string", "pattern": "^[a-z0-9_-]{1,64}$"}),
    "pattern, two parts": listed({"type": "string", "pattern": "^[^@]{1,64}@.+$"}),
    "pattern, with a lookahead": listed({"type": "string", "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}),
    "pattern, counted words": {"type": "string", "pattern": "^(?:[a-z]{1,20} ){1,50}$"},
    **{
        f"format, {name}": listed({"type": "string", "format": name})
        for name in ("date", "time", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid")
    },
    **{f"combination, {name}": listed({"type": "string", **schema}) for name, schema in COMBINATIONS.items()},
    "integer": listed(INTEGER),
    "integer within bounds": listed({"type": "integer", "minimum": -250, "maximum": 1031}),
    "integer, multiples": listed({"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 1000}),
    "integer, multiples without bounds": listed({"type": "integer", "multipleOf": 7}),
    "number": listed({"type": "number"}),
    "number, multiples of 0.25": listed({"type": "number", "multipleOf": 0.25, "minimum": 0}),
    "number within bounds": listed({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
    "boolean or null": listed({"type": ["boolean", "null"]}),
    "listed values": listed({"enum": ["low", "high", 3, None, "ß", {"a": [1]}]}),
    "500 listed values": listed({"enum": [f"value {i * 7919 % 1000}" for i in range(500)]}),
    "array of arrays": {"type": "array", "items": {"type": "array", "items": INTEGER}, "minItems": 32},
    "array within bounds": {"type": "array", "items": STRING, "minItems": 2, "maxItems": 90},
    "array, different items": listed({"type": "array", "items": {"enum": list("abcdefgh")}, "uniqueItems": True}),
    "array that contains": {"type": "array", "items": INTEGER, "contains": {"minimum": 100}, "minItems": 32},
    "array with a head": listed({"type": "array", "prefixItems": [INTEGER, STRING], "items": {"type": "null"}}),
    "object": listed(closed({"id": INTEGER, "name": {"type": "string", "maxLength": 30}, "done": {"type": "boolean"}})),
    "object, 10 optional properties": listed(
        closed({f"option_{i}": {"type": "string", "maxLength": 9} for i in range(10)}, required=False)
    ),
    "object, 100 properties": closed({f"property_{i}": STRING for i in range(100)}),
    "object, 100 optional properties": closed({f"property_{i}": INTEGER for i in range(100)}, required=False),
    "object, 4 to 6 of 10 properties": listed(
        {**closed({f"option_{i}": INTEGER for i in range(10)}, required=False), "minProperties": 4, "maxProperties": 6}
    ),
    "object, names beside properties": {
        "type": "object",
        "properties": {"id": INTEGER, "name": STRING},
        "patternProperties": {"^x_": INTEGER},
        "additionalProperties": STRING,
        "propertyNames": {"maxLength": 20},
        "minProperties": 1,
    },
    "object, any names": {"type": "object", "additionalProperties": INTEGER, "minProperties": 9},
    "object, names by pattern": {
        "type": "object",
        "patternProperties": {"^x_[a-z]+$": INTEGER},
        "additionalProperties": False,
        "minProperties": 9,
    },
    "any value": listed({}),
    "union": listed({"anyOf": [{"type": "string", "maxLength": 20}, INTEGER, {"type": "null"}]}),
    "union of objects": listed({"oneOf": SHAPES}),
    "intersection": listed({"allOf": [{"type": "string", "minLength": 2}, {"maxLength": 40}, {"minLength": 3}]}),
    "reference to itself": {"$defs": {"node": NODE}, "$ref": "#/$defs/node"},
}


def _tags() -> Iterator[tuple[str, Any]]:
    """The formats of structural tags, and what is made of them."""
    for name in TOOL_PARSERS:
        yield f"tool calling, {name}", forced_call_grammar(TOOL_PARSERS[name], TOOLS)["format"]
    for name in REASONING_PARSERS:
        call = name if name in TOOL_PARSERS else "hermes3"
        yield (
            f"reasoning, {name}",
            forced_call_grammar(
                TOOL_PARSERS[call], TOOLS, reasoning=REASONING_PARSERS[name], prompt_ends_in_thinking=True
            )["format"],
        )
    answer = json_schema(SCHEMAS["object"])
    yield (
        "a response format or one call",
        either([forced_call_grammar(TOOL_PARSERS["hermes3"], TOOLS, parallel=False)["format"], answer]),
    )
    yield "structural tag, text up to an end", tag("<note>", ANY_TEXT, "</note>")
    yield "structural tag, pattern", sequence([constant("code: "), regex("[a-z0-9-]+")])
    yield (
        "structural tag, tags within a text",
        {
            "type": "triggered_tags",
            "triggers": ["<note>"],
            "tags": [{"begin": "<note>", "content": answer, "end": "</note>"}],
        },
    )


CONSTRUCTS: dict[str, Constraint] = {
    **{name: JsonSchema(schema) for name, schema in SCHEMAS.items()},
    **{name: StructuralTag({"type": "structural_tag", "format": format}) for name, format in _tags()},
}
