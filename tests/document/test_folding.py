"""The document as Schemathesis gets it says the same."""

from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from specvino.document.folding import folded

RULES: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "integer"}},
    "allOf": [
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"if": {"required": ["b"], "properties": {"b": {"const": 1}}}, "then": {"properties": {"c": {"const": 2}}}},
        {"maxProperties": 2},
    ],
}


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)))
def test_rules_mean_the_same(body: dict[str, int]) -> None:
    schema = folded({"components": {"schemas": {"A": RULES}}})["components"]["schemas"]["A"]
    assert schema["allOf"] == [{"maxProperties": 2}]
    assert jsonschema_rs.is_valid(schema, body) == jsonschema_rs.is_valid(RULES, body)


MANY: dict[str, Any] = {
    **RULES,
    "required": ["a"],
    "allOf": [
        *RULES["allOf"],
        {"if": {"required": ["c"], "properties": {"c": {"const": 1}}}, "then": {"properties": {"a": {"const": 1}}}},
        {"if": {"properties": {"a": {"const": 0}}}, "then": {"required": ["c"]}},
    ],
}


@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, 2)))
def test_more_rules_than_can_be_worked_out_mean_the_same(body: dict[str, int]) -> None:
    schema = folded({"components": {"schemas": {"A": MANY}}})["components"]["schemas"]["A"]
    assert schema.keys() & {"dependentSchemas", "not"} == {"dependentSchemas"}
    assert jsonschema_rs.is_valid(schema, body) == jsonschema_rs.is_valid(MANY, body)


def test_a_single_rule_stays() -> None:
    schema = {"allOf": RULES["allOf"][1:]}
    assert folded({"components": {"schemas": {"A": schema}}})["components"]["schemas"]["A"] == schema


def test_what_else_a_rule_says_stays_with_it() -> None:
    rules = [{**rule, "x-error": {"param": name}} for rule, name in zip(RULES["allOf"][:2], "ab", strict=True)]
    schema = folded({"components": {"schemas": {"A": {"allOf": rules}}}})["components"]["schemas"]["A"]
    assert [each["x-error"]["param"] for each in schema["not"]["anyOf"]] == ["a", "b"]
