"""Members of any schema: that of a tool that nobody forces hasn't been validated."""

from typing import Any

import pytest

from specvino.engine.grammar import admitted_types, members
from specvino.engine.grammar._json_schema import required_and_optional

ITSELF: list[dict[str, Any]] = [
    {keyword: [{"$ref": "#"}] * 5000, "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    for keyword in ("allOf", "anyOf", "oneOf")
]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": 5},
        {"properties": ["a"]},
        {"required": 5},
        {"required": [[], 1]},
        {"allOf": {"a": 1}},
        {"anyOf": [1, None, [], "x"]},
        {"minProperties": "x", "maxProperties": []},
        {"type": [[1]], "oneOf": [{"type": [{}]}]},
        {"$ref": "#/$defs/a", "$defs": 5},
    ],
)
def test_what_is_no_schema_says_nothing(schema: dict[str, Any]) -> None:
    assert members(schema).properties == {}


@pytest.mark.parametrize("schema", ITSELF, ids=["allOf", "anyOf", "oneOf"])
def test_a_schema_that_holds_itself_is_read_to_a_bound_which_is_told(schema: dict[str, Any]) -> None:
    read = members(schema)
    assert read.properties == {"a": {"$ref": "#"}}
    assert list(read.required) == ["a"]
    assert read.beyond
    assert admitted_types(schema, schema) is None


def test_what_all_alternatives_demand_is_required() -> None:
    either_of = [{"required": ["a", "b"]}, {"required": ["c", "a"]}]
    required, optional = required_and_optional({"properties": {"a": {}, "b": {}, "c": {}}, "anyOf": either_of})
    assert (list(required), list(optional)) == (["a"], ["b", "c"])


def test_many_alternatives_are_not_nested() -> None:
    kinds = [{"properties": {"kind": {"const": number}}} for number in range(100)]
    assert members({"anyOf": kinds}).properties == {"kind": {"anyOf": [{"const": number} for number in range(100)]}}
