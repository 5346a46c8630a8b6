"""Which schemas of rows have room for inner fields."""

import pytest

from specvino.codegen.room import has_room

LIST = {"type": "array"}
OBJECT = {"type": ["object", "null"]}


@pytest.mark.parametrize(
    ("schema", "inner"),
    [
        ({}, ".name"),
        ({}, "[].name"),
        (True, ".name"),
        (OBJECT, ".name"),
        (LIST, "[].name"),
        ({"$ref": "#/components/schemas/Talk"}, ".name"),
        ({"type": "array", "maxItems": 1}, "[].name"),
        ({"anyOf": [{"type": "string"}, LIST]}, "[].name"),
        ({"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Talk"}]}, ".name"),
        ({"enum": ["none", {"name": "a"}]}, ".name"),
        ({"const": ["a"]}, "[].name"),
    ],
)
def test_room(schema, inner) -> None:
    assert has_room(schema, inner)


@pytest.mark.parametrize(
    ("schema", "inner"),
    [
        (False, ".name"),
        ({"type": "string"}, ".name"),
        ({"type": ["string", "null"]}, "[].name"),
        (LIST, ".name"),
        (OBJECT, "[].name"),
        ({"type": "array", "maxItems": 0}, "[].name"),
        ({"type": "object", "maxProperties": 0}, ".name"),
        ({"anyOf": [{"type": "string"}, LIST]}, ".name"),
        ({"oneOf": [{"type": "string"}, {"type": "array", "maxItems": 0}]}, "[].name"),
        ({"type": ["object", "null"], "anyOf": [{"type": "null"}]}, ".name"),
        ({"enum": ["none", "all", None]}, ".name"),
        ({"const": []}, "[].name"),
        ({"const": {}}, ".name"),
    ],
)
def test_no_room(schema, inner) -> None:
    assert not has_room(schema, inner)
