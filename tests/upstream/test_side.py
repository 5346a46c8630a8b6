"""What a schema is made of."""

import pytest

from specvino.upstream.described import Described
from specvino.upstream.side import Side, is_open, may_be

COMPONENTS = {
    "Text": {"type": "string"},
    "Either": {"oneOf": [{"$ref": "#/components/schemas/Text"}, {"type": "integer"}]},
    "Base": {"type": "object", "properties": {"id": {}}, "required": ["id"]},
}


def side():
    return Side(Described({"components": {"schemas": COMPONENTS}}, {}))


def test_leaves_are_without_references_and_unions() -> None:
    either = {"anyOf": [{"$ref": "#/components/schemas/Either"}, {"type": "null"}, {"type": "integer"}]}
    assert side().leaves([either]) == [{"type": "string"}, {"type": "integer"}, {"type": "null"}]


def test_all_of_is_one_object() -> None:
    rule = {"if": {"properties": {"never": {}}}, "then": {"required": ["never"]}}
    (leaf,) = side().leaves([{"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"x": {}}}, rule]}])
    assert leaf["properties"].keys() == {"id", "x"}
    assert leaf["required"] == ["id"]


def test_what_stands_beside_a_union_is_in_each_branch() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {}, "y": {}},
        "required": ["x"],
        "anyOf": [{"required": ["y"]}, {"$ref": "#/components/schemas/Base"}],
    }
    first, second = side().leaves([schema])
    assert (first["properties"].keys(), sorted(first["required"])) == ({"x", "y"}, ["x", "y"])
    assert (second["properties"].keys(), sorted(second["required"])) == ({"x", "y", "id"}, ["id", "x"])


def test_what_two_parts_say_of_a_property_holds() -> None:
    schema = {
        "properties": {"x": {"type": ["string", "null"]}},
        "anyOf": [{"properties": {"x": {"not": {"const": None}}}}],
    }
    (leaf,) = side().leaves([schema])
    taken = [value for value in ("text", None, 3) if side().takes([leaf["properties"]["x"]], value)]
    assert taken == ["text"]


def test_a_union_takes_what_a_branch_takes() -> None:
    assert side().takes([{"type": "string"}, {"$ref": "#/components/schemas/Either"}], 3)
    assert not side().takes([{"$ref": "#/components/schemas/Either"}], None)


def test_formats_are_passed_over() -> None:
    assert side().takes([{"type": "string", "format": "uri"}], "text")


def test_all_that_is_said_of_a_value() -> None:
    said = list(side().applicable({"$ref": "#/components/schemas/Either", "not": {"const": 3}}))
    assert {"const": 3} in said
    assert {"type": "integer"} in said


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        ({"const": "a"}, ["a"]),
        ({"anyOf": [{"enum": ["a", 1]}, {"type": "null"}]}, ["a"]),
        ({"type": "string"}, None),
        (None, None),
    ],
)
def test_texts_that_a_property_is_held_to(given, texts) -> None:
    assert side().texts({"properties": {} if given is None else {"kind": given}}, "kind") == texts


@pytest.mark.parametrize(
    ("leaf", "kinds"),
    [
        ({}, {"object", "array"}),
        ({"x-unread": "server.Class"}, {"object", "array"}),
        ({"type": ["object", "null"]}, {"object"}),
        ({"properties": {"x": {}}}, {"object"}),
        ({"items": {"type": "string"}}, {"array"}),
        ({"enum": ["a", []]}, {"array"}),
        ({"minimum": 3}, set()),
        ({"type": "string"}, set()),
    ],
)
def test_types(leaf, kinds) -> None:
    assert {kind for kind in ("object", "array") if may_be(leaf, kind)} == kinds


def test_open() -> None:
    assert is_open({"description": "Anything.", "default": None})
    assert is_open({"additionalProperties": True, "properties": {}, "required": []})
    assert not is_open({"minimum": 0})
    assert not is_open({"const": None})
    assert not is_open({"additionalProperties": False})
