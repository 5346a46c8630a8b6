"""Which schemas of rows have room for inner fields, and which allow objects of the kinds that have a field."""

import pytest

from specvino.codegen.fields import Field
from specvino.codegen.room import has_kind, has_room, kind_path

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


@pytest.mark.parametrize(("path", "kind"), [("name", "type"), ("tools[].name", "tools[].type"), ("a.b", "a.type")])
def test_kind_path(path, kind) -> None:
    assert kind_path(path) == kind


@pytest.mark.parametrize(
    ("types", "kinds", "has"),
    [
        ({"enum": ["text", "image"]}, [{"const": "file"}], False),
        ({"const": "text"}, [{"const": "file"}, {"enum": ["image", "audio"]}], False),
        ({"enum": ["text", None]}, [{"enum": ["file", None]}], False),
        ({"enum": ["text"]}, [{"const": "file"}, {"const": "text"}], True),
        ({"enum": ["text"]}, [{"enum": ["file", "text"]}], True),
        ({"enum": ["text"]}, [{"const": "file"}, {"type": "string"}], True),
        ({"enum": ["text"]}, [None], True),
        ({"type": "string"}, [{"const": "file"}], True),
        ({}, [{"const": "file"}], True),
    ],
)
def test_kinds_of_objects_with_a_field(types, kinds, has) -> None:
    objects = tuple({"properties": {"data": {}} | ({"type": kind} if kind else {})} for kind in kinds)
    assert has_kind(Field("talk", "request", "parts[].data", ({},) * len(kinds), objects), types) is has
