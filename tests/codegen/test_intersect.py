"""Two schemas in one."""

import jsonschema_rs
import pytest

from specvino.codegen.intersect import intersect

NUMBER = {"type": ["number", "null"], "minimum": 0, "maximum": 2, "description": "x"}


@pytest.mark.parametrize(
    ("schema", "bounds", "expected"),
    [
        (NUMBER, {"exclusiveMinimum": 0}, NUMBER | {"exclusiveMinimum": 0}),
        (NUMBER, {"minimum": -1, "maximum": 1}, NUMBER | {"maximum": 1}),
        (NUMBER, {"type": "number"}, NUMBER | {"type": "number"}),
        (NUMBER, {"type": ["integer", "null"]}, NUMBER | {"type": ["null", "integer"]}),
        ({"type": "string"}, {"enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", "b", None]}, {"enum": ["a", "c"]}, {"enum": ["a"]}),
        ({"anyOf": [{}]}, {"maxItems": 4}, {"anyOf": [{}], "maxItems": 4}),
    ],
)
def test_plain_bounds_are_written_into_the_schema(schema, bounds, expected):
    assert intersect(schema, bounds) == expected


@pytest.mark.parametrize(
    ("schema", "bounds", "expected"),
    [
        (
            {"$ref": "#/x", "description": "d"},
            {"maximum": 1},
            {"description": "d", "allOf": [{"$ref": "#/x"}, {"maximum": 1}]},
        ),
        (
            {"anyOf": [{}], "allOf": [{"maxLength": 1}]},
            {"anyOf": [{"type": "null"}]},
            {"anyOf": [{}], "allOf": [{"maxLength": 1}, {"anyOf": [{"type": "null"}]}]},
        ),
        ({"type": "string"}, {"type": "null"}, {"type": "string", "allOf": [{"type": "null"}]}),
        ({"enum": ["a"]}, {"enum": ["b"]}, {"enum": ["a"], "allOf": [{"enum": ["b"]}]}),
        ({"pattern": "a"}, {"pattern": "b"}, {"pattern": "a", "allOf": [{"pattern": "b"}]}),
    ],
)
def test_all_of_where_that_can_not_be(schema, bounds, expected):
    assert intersect(schema, bounds) == expected


@pytest.mark.parametrize("value", [None, -1, 0, 0.5, 1, 1.5, 2, 3, "a"])
@pytest.mark.parametrize("bounds", [{"type": "integer"}, {"type": ["integer", "null"], "minimum": 1}, {"maximum": 1.5}])
def test_both_are_kept(bounds, value):
    both = all(jsonschema_rs.is_valid(schema, value) for schema in (NUMBER, bounds))
    assert jsonschema_rs.is_valid(intersect(NUMBER, bounds), value) is both


def test_nothing_is_changed_in_place():
    schema = {"anyOf": [{}], "allOf": [{"maxLength": 1}]}
    intersect(schema, {"anyOf": []})
    assert schema == {"anyOf": [{}], "allOf": [{"maxLength": 1}]}
