"""Whatever a schema's grammar allows is JSON that satisfies the schema."""

import json
import re
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pydantic
import pytest
from samples.judge import judge
from samples.schemas import SCHEMAS
from samples.sentences import sentences

from specvino.engine.grammar._ebnf.finite_texts import shortest_text
from specvino.engine.grammar._errors import GrammarError
from specvino.engine.grammar._from_schema.converter import MOST_VALUES, convert
from specvino.engine.grammar._from_schema.keywords import ENFORCED, UNENFORCED


@pytest.mark.parametrize(("keyword", "schema"), SCHEMAS, ids=lambda value: value if isinstance(value, str) else "")
def test_what_the_grammar_allows_satisfies_the_schema(keyword: str, schema: dict[str, Any]) -> None:
    assert keyword in json.dumps(schema)
    grammar, findings = convert(schema)
    assert not findings.unenforced
    check(schema, grammar)


def check(schema: dict[str, Any], grammar: Any, texts: int = 40) -> set[str]:
    is_valid = judge(schema)
    drawn = {shortest_text(grammar), *sentences(grammar, texts)}
    for text in drawn:
        assert not re.search(r"[{,:]\s{2}", re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)), "white space between tokens"
        assert is_valid(text), text
    return drawn


def test_every_enforced_keyword_is_tried() -> None:
    assert {keyword for keyword, _ in SCHEMAS} == ENFORCED
    assert not ENFORCED & UNENFORCED.keys()


CLOSED = {"type": "object", "properties": {"a": True, "b": True}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ({"type": "array", "uniqueItems": True}, ["uniqueItems"]),
        ({"type": "array", "uniqueItems": True, "maxItems": 1}, []),
        ({"type": "string", "uniqueItems": True}, []),
        ({"type": "object", "properties": {"a": {"not": {"const": 1}}}}, ["properties.a.not"]),
        ({"type": "object", "if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": True}, ["then"]),
        ({"type": "object", "dependentSchemas": {"a": {"type": "object"}}}, ["dependentSchemas"]),
        ({"type": "object", "unevaluatedProperties": False}, ["unevaluatedProperties"]),
        ({"type": "array", "unevaluatedItems": False}, ["unevaluatedItems"]),
        ({"$dynamicRef": "#x"}, ["$dynamicRef"]),
        ({"type": "string", "pattern": "(a)\\1"}, ["pattern"]),
        ({"type": "string", "format": "uri", "minLength": 1}, []),
        ({"type": "string", "pattern": "^(?:[a-z]{2,9}|x-y)$", "minLength": 2, "maxLength": 9}, []),
        ({"type": "string", "pattern": "(?<=a)b"}, ["pattern"]),
        ({"type": "string", "pattern": "^(?:(?!ab).)*$"}, ["pattern"]),
        ({"type": "string", "pattern": "(a|b)*a(a|b){20}$", "minLength": 30}, ["minLength"]),
        ({"type": "string", "pattern": "^(?=[ab]*$)(?=(?:a|b)*a(?:a|b){14}$)"}, ["pattern"]),
        ({"type": "string", "format": "regex"}, ["format"]),
        ({"type": "string", "format": "regex", "minLength": 3}, ["format"]),
        ({"type": "string", "format": "regex", "pattern": "^/a"}, []),
        ({"type": "string", "format": "regex", "enum": ["a"]}, []),
        ({"type": "string", "pattern": r"\p{Script=Latin}"}, ["pattern"]),
        ({"type": "string", "pattern": r"^(?!\p{L})"}, ["pattern"]),
        ({"type": "string", "pattern": "^\U0010fe00"}, ["pattern"]),
        ({"type": "integer", "multipleOf": 10**50}, ["multipleOf"]),
        ({"type": "number", "multipleOf": 1e-300}, ["multipleOf"]),
        ({"oneOf": [{"type": [kind, "null"], "const": None} for kind in ("string", "integer")]}, ["oneOf"]),
        ({"type": "string", "pattern": r"^\P{Emoji}$"}, ["pattern"]),
        ({"type": "string", "format": "time", "maxLength": 3}, ["format"]),
        ({"type": "integer", "multipleOf": 1331}, ["multipleOf"]),
        ({"type": "object", "patternProperties": {"(a)\\1": True}}, ["patternProperties.(a)\\1"]),
        ({"properties": {"a": True}, "additionalProperties": True, "minProperties": 3}, ["minProperties"]),
        (
            {"properties": {"a": True}, "additionalProperties": True, "propertyNames": {"not": {"const": "b"}}},
            ["propertyNames.not"],
        ),
        ({"properties": {f"p{i}": True for i in range(120)}, "minProperties": 60}, ["minProperties"]),
        ({"type": "array", "contains": {"type": "string"}, "maxContains": 2}, ["maxContains"]),
        (
            {"allOf": [{"type": "array", "contains": {"type": "string"}}, {"contains": {"type": "null"}}]},
            ["allOf.1.contains"],
        ),
        (
            {
                "type": "array",
                "items": {"enum": list(range(9))},
                "uniqueItems": True,
                "prefixItems": [{"const": 8}, {"const": 1}],
                "minItems": 2,
            },
            ["uniqueItems"],
        ),
        ({"type": "string", "format": "password"}, []),
        ({"type": "object", "minProperties": 2}, ["minProperties"]),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, ["oneOf"]),
        ({"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]}, ["oneOf"]),
        ({"oneOf": [CLOSED | {"required": ["a"]}, CLOSED | {"required": ["b"]}]}, ["oneOf"]),
        ({"oneOf": [CLOSED | {"required": ["a"]}, {"type": "object", "required": ["c"]}]}, []),
        (
            {"items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "array", "uniqueItems": True}}},
            ["$defs.x.uniqueItems"],
        ),
    ],
)
def test_what_is_not_enforced_is_named(schema: dict[str, Any], paths: list[str]) -> None:
    assert [".".join(map(str, path)) for path in convert(schema)[1].unenforced] == paths


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
        ({"$ref": "name", "enum": [{"$id": "name"}]}, "$ref", "no $id"),
        ({"type": "string", "pattern": "a^b"}, "pattern", "no string satisfies"),
        (
            {"type": "string", "pattern": "^a", "allOf": [{"pattern": "^b"}]},
            "pattern",
            "both allOf.0.pattern and pattern",
        ),
        ({"type": "string", "format": "date", "minLength": 11}, "minLength", "both format and minLength"),
        ({"type": "string", "pattern": "^a+$", "format": "ipv4"}, "format", "both pattern and format"),
        ({"type": "integer", "multipleOf": 7, "minimum": 1, "maximum": 6}, "", "no multiple lies between"),
        ({"type": "object", "required": ["a", "b"], "maxProperties": 1}, "maxProperties", "2 are required"),
        (
            {"required": ["a"], "dependentRequired": {"a": ["b"]}, "properties": {"b": False}},
            "dependentRequired",
            "required",
        ),
        (
            {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 3},
            "uniqueItems",
            "no array",
        ),
        ({"type": "array", "items": {"type": "null"}, "contains": {"type": "string"}}, "contains", "no array"),
        ({"properties": {"a": {"const": [], "items": {"$ref": "#/x"}}}}, "properties.a", "leads nowhere"),
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
            "infinite recursion",
        ),
        ({"enum": list(range(MOST_VALUES + 1))}, "enum", "more than"),
    ],
)
def test_a_schema_that_nothing_can_satisfy_is_refused(schema: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(GrammarError, match=re.escape(reason)) as caught:
        convert(schema)
    assert ".".join(map(str, caught.value.path)) == path


@pytest.mark.parametrize("levels", [70, 200, 5000])
def test_deep_nesting_is_refused(levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    with pytest.raises(GrammarError, match="nested"):
        convert(schema)


def test_a_schema_of_too_many_parts_is_refused() -> None:
    names = {f"p{i}": {"type": "object", "properties": {"a": {"type": "string"}}} for i in range(1200)}
    with pytest.raises(GrammarError, match="more than 2000 parts"):
        convert({"type": "object", "properties": names})


def test_impossible_options_are_left_out() -> None:
    schema = {"properties": {"a": {"anyOf": [False, {"type": "null"}]}, "b": False}, "required": ["a"]}
    assert check(schema, convert(schema)[0]) == {'{"a": null}'}


def test_a_schema_of_another_draft_is_not_fetched() -> None:
    assert not convert({"$schema": "http://127.0.0.1:9/mine", "type": "null"})[1].unenforced


@pytest.mark.parametrize(
    ("draft", "texts"),
    [
        ("http://json-schema.org/draft-07/schema#", {"[]", "[null]"}),
        ("https://json-schema.org/draft/2019-09/schema", {"[]", "[null]"}),
        ("https://json-schema.org/draft/2020-12/schema", {"[]", "[true]", "[false]"}),
        ("http://127.0.0.1:9/draft-07/mine", {"[]", "[true]", "[false]"}),
    ],
)
def test_keywords_of_later_drafts_are_annotations(draft: str, texts: set[str]) -> None:
    schema = {"$schema": draft, "prefixItems": [{"type": "boolean"}], "items": {"type": "null"}, "maxItems": 1}
    assert check(schema, convert(schema)[0]) == texts


def test_the_number_of_contained_items_is_an_annotation_in_draft_7() -> None:
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    schema = {"items": {"enum": [1, 2]}, "contains": {"const": 1}, "minContains": 2, "maxItems": 2}
    assert check({**draft, **schema}, convert({**draft, **schema})[0]) == {"[1]", "[1, 1]", "[1, 2]", "[2, 1]"}
    assert check(schema, convert(schema)[0]) == {"[1, 1]"}


def test_many_parts_in_a_row_are_not_nesting() -> None:
    assert not convert({"prefixItems": [{"const": number} for number in range(1500)]})[1].unenforced
    optional = {"type": "string", "pattern": f"^{'a?' * 400}$", "maxLength": 30}
    assert "optional parts" in convert(optional)[1].unenforced["maxLength",]


def test_an_array_without_a_minimum_that_cannot_exist() -> None:
    with pytest.raises(GrammarError, match="no array satisfies it beside") as raised:
        convert({"items": {"enum": [1]}, "contains": {"type": "string"}})
    assert raised.value.path == ("contains",)


def test_patterns_with_the_same_length_bound_share_their_ends() -> None:
    bounded = [{"type": "string", "pattern": f"^{letter}[^!]*$", "maxLength": 15} for letter in "xy"]
    alone, both = (len(convert({"anyOf": schemas})[0].rules) for schemas in (bounded[:1], bounded))
    assert both < alone + 10


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
    grammar, findings = convert(schema)
    assert not findings.unenforced
    for text in check(schema, grammar, texts=100):
        Person.model_validate_json(text)


def test_what_a_pattern_comes_to_does_not_depend_on_how_its_characters_are_spelled() -> None:
    """In JSON some of these have several spellings."""
    schema = {"type": "string", "pattern": "^(?:[^,]{1,40}, ){0,30}end$"}
    grammar, findings = convert(schema)
    assert not findings.unenforced
    check(schema, grammar)


@pytest.mark.parametrize(
    ("least", "lengths"),
    [(0, {0, 1, 2}), (1, {1, 2}), (2, {2})],
)
def test_items_beyond_the_least_may_be_left_out(least: int, lengths: set[int]) -> None:
    """Also those that have schemas of their own: all that a schema allows has to be within a model's reach."""
    items = [{"const": 1}, {"const": 2}]
    schema = {"type": "array", "prefixItems": items, "items": False, "minItems": least}
    grammar, _ = convert(schema)
    assert {len(json.loads(text)) for text in check(schema, grammar)} == lengths
