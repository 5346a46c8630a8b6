"""Whatever a schema's grammar allows is JSON that satisfies the schema."""

import json
import random
import re
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import jsonschema_rs
import pydantic
import pytest
from support.sentences import sentence

from specvino.engine.grammar.errors import SchemaError
from specvino.engine.grammar.keywords import ENFORCED, UNENFORCED
from specvino.engine.grammar.schema import MOST_VALUES, convert
from specvino.engine.grammar.shortest import shortest

OBJECT = {"type": "object"}
NODE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
    "required": ["value", "next"],
    "additionalProperties": False,
}
A = {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "integer"}}, "required": ["kind"]}
B = {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "string"}}, "required": ["kind", "y"]}

# Each with the keyword that it is about.
SCHEMAS: list[tuple[str, dict[str, Any]]] = [
    ("type", {"type": "string"}),
    ("type", {"type": "integer"}),
    ("type", {"type": "number"}),
    ("type", {"type": "boolean"}),
    ("type", {"type": "null"}),
    ("type", {"type": "array"}),
    ("type", OBJECT),
    ("type", {"type": ["string", "integer", "null"]}),
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


@pytest.mark.parametrize(("keyword", "schema"), SCHEMAS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_the_grammar_allows_satisfies_the_schema(keyword: str, schema: dict[str, Any]) -> None:
    assert keyword in json.dumps(schema)
    converted = convert(schema)
    assert not converted.unenforced
    check(schema, converted.grammar)


def check(schema: dict[str, Any], grammar: Any, texts: int = 40) -> set[str]:
    validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    found = {shortest(grammar), *(sentence(grammar, random.Random(seed)) for seed in range(texts))}
    for text in found:
        assert not re.search(r"[{,:]\s{2}", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)), "white space between tokens"
        validator.validate(json.loads(text))
    return found


def test_every_enforced_keyword_is_tried() -> None:
    assert {keyword for keyword, _ in SCHEMAS} == ENFORCED
    assert not ENFORCED & UNENFORCED.keys()


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ({"type": "array", "uniqueItems": True}, ["uniqueItems"]),
        ({"type": "array", "uniqueItems": True, "maxItems": 1}, []),
        ({"type": "string", "uniqueItems": True}, []),
        ({"type": "array", "contains": {"const": 1}}, ["contains"]),
        ({"type": "object", "properties": {"a": {"not": {"const": 1}}}}, ["properties.a.not"]),
        ({"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": True}, ["then"]),
        ({"type": "object", "dependentRequired": {"a": ["b"]}}, ["dependentRequired"]),
        ({"type": "object", "dependentSchemas": {"a": {"type": "object"}}}, ["dependentSchemas"]),
        ({"type": "object", "unevaluatedProperties": False}, ["unevaluatedProperties"]),
        ({"type": "array", "unevaluatedItems": False}, ["unevaluatedItems"]),
        ({"$dynamicRef": "#x"}, ["$dynamicRef"]),
        ({"type": "integer", "multipleOf": 7}, ["multipleOf"]),
        ({"type": "number", "multipleOf": 0.3}, ["multipleOf"]),
        ({"type": "string", "pattern": "^(?=a)"}, ["pattern"]),
        ({"type": "string", "pattern": "(a)\\1"}, ["pattern"]),
        ({"type": "string", "pattern": "a^b"}, ["pattern"]),
        ({"type": "string", "pattern": "^a", "minLength": 3}, ["minLength"]),
        ({"type": "string", "format": "date", "maxLength": 4}, ["maxLength"]),
        ({"type": "string", "format": "json-pointer"}, ["format"]),
        ({"type": "string", "format": "password"}, []),
        ({"type": "object", "minProperties": 2}, ["minProperties"]),
        ({"properties": {"a": True, "b": True}, "maxProperties": 1}, ["maxProperties"]),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, ["oneOf"]),
        ({"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]}, ["oneOf"]),
        (
            {"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "array", "uniqueItems": True}}},
            ["$defs.x.uniqueItems"],
        ),
    ],
)
def test_what_is_not_enforced_is_named(schema: dict[str, Any], paths: list[str]) -> None:
    assert [".".join(map(str, path)) for path in convert(schema).unenforced] == paths


@pytest.mark.parametrize(
    ("schema", "path", "reason"),
    [
        ({"type": "nonsense"}, "type", "not a valid JSON Schema"),
        ({"properties": [1]}, "properties", "not a valid JSON Schema"),
        ({"properties": {"a": {"minimum": "x"}}}, "properties.a.minimum", "not a valid JSON Schema"),
        ({"$ref": "#"}, "$ref", "leads back to itself"),
        ({"$ref": "#/$defs/none"}, "$ref", "leads to nothing"),
        ({"items": {"$ref": "http://127.0.0.1:9/x"}}, "items.$ref", "leads out of the schema"),
        ({"$ref": "#name"}, "$ref", "anchor"),
        ({"type": "integer", "minimum": 5, "maximum": 1}, "", "no number lies between"),
        ({"type": "number", "exclusiveMinimum": 1, "maximum": 1}, "", "no number lies between"),
        ({"type": "string", "minLength": 5, "maxLength": 1}, "minLength", "no string"),
        ({"type": "array", "minItems": 5, "maxItems": 1}, "minItems", "no array"),
        ({"enum": [1, 2], "type": "string"}, "enum", "none of the listed values"),
        ({"properties": {"a": False}, "required": ["a"]}, "properties.a", "the required property 'a'"),
        (
            {"properties": {}, "required": ["a"], "additionalProperties": False},
            "additionalProperties",
            "required property",
        ),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "allOf.0", "no type of value is left"),
        (
            {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}}},
            "",
            "without end",
        ),
        ({"enum": list(range(MOST_VALUES + 1))}, "enum", "more than"),
    ],
)
def test_a_schema_that_nothing_can_satisfy_is_refused(schema: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(reason)) as caught:
        convert(schema)
    assert ".".join(map(str, caught.value.path)) == path


@pytest.mark.parametrize("levels", [70, 200, 5000])
def test_deep_nesting_is_refused(levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    with pytest.raises(SchemaError, match="nested"):
        convert(schema)


def test_a_schema_of_too_many_parts_is_refused() -> None:
    names = {f"p{i}": {"type": "object", "properties": {"a": {"type": "string"}}} for i in range(1200)}
    with pytest.raises(SchemaError, match="too large"):
        convert({"type": "object", "properties": names})


def test_impossible_options_are_left_out() -> None:
    schema = {"properties": {"a": {"anyOf": [False, {"type": "null"}]}, "b": False}, "required": ["a"]}
    assert check(schema, convert(schema).grammar) == {'{"a": null}'}


def test_a_schema_of_another_draft_is_not_fetched() -> None:
    assert not convert({"$schema": "http://127.0.0.1:9/mine", "type": "null"}).unenforced


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Address(pydantic.BaseModel):
    street: str = pydantic.Field(min_length=1, max_length=40, description="Where")
    zip: Annotated[str, pydantic.Field(pattern=r"^\d{5}$")]


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = pydantic.Field(ge=0, le=9)


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    name: str


class Person(pydantic.BaseModel):
    name: str
    nick: str | None = None
    born: date
    colour: Colour = Colour.RED
    height: float = pydantic.Field(gt=0.5, lt=2.6)
    addresses: list[Address] = pydantic.Field(min_length=1, max_length=3)
    pet: Cat | Dog = pydantic.Field(discriminator="kind")
    either: int | str
    scores: dict[Colour, int]
    pair: tuple[int, str]
    children: list["Person"] = []


def test_models_of_pydantic_are_enforced() -> None:
    schema = Person.model_json_schema()
    converted = convert(schema)
    assert not converted.unenforced
    for text in check(schema, converted.grammar, texts=100):
        Person.model_validate_json(text)
