"""Schemas in words."""

import re

import pytest
from support.portal import SOURCE

from specvino.portal.words import plain, text, values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "a"),
        ("", '""'),
        (["a", None, 1.5, False], "a, null, 1.5, false"),
        ({"é": [], "a": {}, "b": {"c": 1}}, "é: [], a: {}, b: c: 1"),
    ],
)
def test_text(value, shown) -> None:
    assert text(value) == shown


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": ["string", "null"]}, "string or null"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "string (at least 1 character; at most 9 characters)"),
        ({"enum": ["none", "auto"]}, "values none, auto"),
        ({"minimum": 0, "exclusiveMaximum": 2}, "at least 0; less than 2"),
        ({}, "any value"),
    ],
)
def test_plain(schema, shown) -> None:
    assert plain(schema) == shown


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"const": 0}, "0"),
        ({"const": ""}, '""'),
        ({"enum": [False, None]}, "false, null"),
        ({"maxItems": 0}, "an empty list"),
        ({"type": "object", "maxProperties": 0}, "an empty object"),
        ({"maxLength": 0}, "an empty text"),
        ({"maxItems": 4}, "at most 4 elements"),
        ({"not": {"const": "required"}}, "all but required"),
        ({"items": {"const": "text"}}, "list of text"),
        ({"type": "array", "items": {"type": "integer"}}, "list of integer"),
        ({"anyOf": [{"type": "string"}, {"maxItems": 4, "type": "array"}]}, "string or array (at most 4 elements)"),
        ({"properties": {"a": {"const": 1}, "b": {"enum": ["x", "y"]}}}, "a: 1; b: x, y"),
        ({"$ref": "#/components/schemas/ChatToolCall"}, "ChatToolCall"),
        ({"type": "string", "pattern": "^resp-"}, "string (pattern ^resp-)"),
    ],
)
def test_values(schema, shown) -> None:
    assert values(schema) == shown


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "object", "additionalProperties": {"type": "null"}}, "object; members: null"),
        ({"type": "array", "items": {"type": "null"}, "minItems": 2}, "array (at least 2 elements); elements: null"),
        ({"type": "integer", "not": {"const": 1}}, "integer; but not 1"),
        (
            {"type": "object", "required": ["id", "kind"], "properties": {"id": {"type": "string"}}},
            "object; id (required): string; requires kind",
        ),
        (
            {"properties": {"a": {"const": 1}}, "additionalProperties": False, "title": "A"},
            "a: 1; no other members",
        ),
        (
            {"type": "array", "items": {"type": "object", "additionalProperties": {"const": 1}}},
            "list of (object; members: 1)",
        ),
        (
            {"type": ["array", "null"], "items": {"type": "object", "additionalProperties": {"const": 1}}},
            "array or null; elements: (object; members: 1)",
        ),
        ({"prefixItems": [{"const": 1}, {"type": "null"}]}, "first elements: 1, null"),
        ({"propertyNames": {"pattern": "^[0-9]+$"}, "minimum": 1}, "at least 1; names: pattern ^[0-9]+$"),
        ({"oneOf": [{"const": 1}, {"const": 2}], "type": "integer"}, "integer; 1 or 2"),
        ({"allOf": [{"minimum": 1}], "maximum": 2}, "at most 2; at least 1"),
        ({"additionalProperties": True}, "any value"),
        (
            {
                "type": ["object", "null"],
                "properties": {
                    "a": {"type": "object", "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 2}}
                },
                "additionalProperties": {"const": 1},
            },
            "object or null; a: (object; members: string (at least 1 character; at most 2 characters)); "
            "other members: 1",
        ),
        ({"contains": {"const": "direct"}}, "with an element direct"),
        ({"$ref": "#/components/schemas/A", "minLength": 1}, "at least 1 character; A"),
    ],
)
def test_values_of_several_keywords(schema, shown) -> None:
    assert values(schema) == shown


@pytest.mark.parametrize("keyword", ["patternProperties", "uniqueItems", "if", "dependentRequired"])
def test_a_keyword_without_words_is_an_error(keyword: str) -> None:
    with pytest.raises(ValueError, match=f"no words for {keyword} in a schema"):
        values({"type": "object", keyword: {}})


def test_no_cell_of_the_matrix_has_json() -> None:
    taken = {support.taken for field in SOURCE.fields for support in field.support.values()}
    assert len(taken) > 200
    assert not [words for words in taken if re.search(r'\{"|": ', words)]
