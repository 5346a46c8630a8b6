"""Schemas in words."""

import pytest

from specvino.portal.words import plain, text, values


@pytest.mark.parametrize(
    ("value", "shown"),
    [("a", "a"), ("", '""'), (["a", None, 1.5, False], "a, null, 1.5, false"), ({"é": []}, '{"é": []}')],
)
def test_text(value, shown) -> None:
    assert text(value) == shown


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": ["string", "null"]}, "string, null"),
        ({"type": "string", "minLength": 1, "maxLength": 9}, "string (shortest 1; longest 9)"),
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
        ({"maxItems": 4}, "most elements 4"),
        ({"not": {"const": "required"}}, "all but required"),
        ({"items": {"const": "text"}}, "list of text"),
        ({"type": "array", "items": {"type": "integer"}}, "list of integer"),
        ({"anyOf": [{"type": "string"}, {"maxItems": 4, "type": "array"}]}, "string or array (most elements 4)"),
        ({"properties": {"a": {"const": 1}, "b": {"enum": ["x", "y"]}}}, "a: 1; b: x, y"),
        ({"$ref": "#/components/schemas/ChatToolCall"}, "ChatToolCall"),
        ({"type": "string", "pattern": "^resp-"}, "string (pattern ^resp-)"),
    ],
)
def test_values(schema, shown) -> None:
    assert values(schema) == shown


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "null"}},
        {"type": "array", "items": {"type": "null"}, "minItems": 2},
        {"not": {"const": 1}, "type": "integer"},
    ],
)
def test_values_that_are_not_said_in_few_words(schema) -> None:
    assert values(schema) == text(schema)
