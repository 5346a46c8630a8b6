"""The values of a property as another system has them, on the structure that ours have."""

import pytest

from specvino.codegen.own_schema import nullable, own_schema

TEXT = {"type": "string"}
NULL = {"type": "null"}
TEXTS = {"type": "array", "items": TEXT}
PLACE = {"type": "object", "properties": {"url": TEXT}}
FEW = {"maxProperties": 1}
ANY = {"type": "object", "additionalProperties": True}
NAMED = {
    "Place": PLACE,
    "Image": {"anyOf": [TEXT, {"$ref": "Place"}]},
    "Item": {"oneOf": [{"$ref": "Place"}, {"$ref": "Other"}]},
    "Other": {"type": "object"},
    "Maybe": {"anyOf": [{"$ref": "Place"}, NULL]},
    "Text": TEXT,
}


def resolve(schema):
    return NAMED[schema["$ref"]] if "$ref" in schema else schema


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (TEXT, {"type": "integer", "minimum": 1}, {"type": "integer", "minimum": 1}),
        ({"enum": ["a"]}, TEXT, TEXT),
        (TEXTS, {"type": "array", "minItems": 1}, TEXTS | {"minItems": 1}),
        (TEXTS, {"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "integer"}}),
        (TEXTS, {"anyOf": [TEXT]}, {"anyOf": [TEXT]}),
        ({"type": ["array", "null"], "items": TEXT}, {"type": "array"}, TEXTS),
        (TEXTS, {"type": ["array", "string"], "minLength": 1}, {"anyOf": [TEXTS, TEXT | {"minLength": 1}]}),
        ({"$ref": "Image"}, TEXT, TEXT),
        ({"$ref": "Image"}, {"type": "object"}, {"$ref": "Place"}),
        ({"$ref": "Image"}, {"type": ["object", "null"]}, {"anyOf": [{"$ref": "Place"}, NULL]}),
        (
            {"$ref": "Image"},
            {"type": "object", "minProperties": 1},
            {"allOf": [{"$ref": "Place"}, {"minProperties": 1}]},
        ),
        ({"$ref": "Item"}, {"type": "object"}, {"$ref": "Item"}),
        (
            {"$ref": "Place"},
            {"type": "object", "additionalProperties": True},
            {"type": "object", "additionalProperties": True},
        ),
    ],
)
def test_what_is_left_of_ours(ours, theirs, expected) -> None:
    assert own_schema(ours, theirs, resolve) == expected


@pytest.mark.parametrize(
    ("schema", "with_null", "without"),
    [
        (TEXT, {"type": ["string", "null"]}, TEXT),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}, TEXT),
        ({"enum": ["a", None]}, {"enum": ["a", None]}, {"enum": ["a"]}),
        ({"const": "a"}, {"enum": ["a", None]}, {"const": "a"}),
        ({"$ref": "Place"}, {"anyOf": [{"$ref": "Place"}, NULL]}, {"$ref": "Place"}),
        ({"$ref": "Maybe"}, {"anyOf": [{"$ref": "Maybe"}, NULL]}, {"$ref": "Place"}),
        ({"anyOf": [TEXT, TEXTS, NULL]}, {"anyOf": [TEXT, TEXTS, NULL]}, {"anyOf": [TEXT, TEXTS]}),
        ({"anyOf": [{"type": ["string", "null"]}, TEXTS]}, None, {"anyOf": [TEXT, TEXTS]}),
    ],
)
def test_null(schema, with_null, without) -> None:
    assert nullable(schema, False, resolve) == without
    if with_null:
        assert nullable(schema, True, resolve) == with_null
