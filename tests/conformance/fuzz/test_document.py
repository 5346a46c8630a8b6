"""The document as Schemathesis gets it says the same."""

import json
from importlib.resources import files
from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st

from specvino.conformance.fuzz.document import body_fields, foldable
from specvino.document.operations import operations

DOCUMENT = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))

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
def test_rules_mean_the_same(body) -> None:
    folded = foldable({"components": {"schemas": {"A": RULES}}})["components"]["schemas"]["A"]
    assert folded["allOf"] == [{"maxProperties": 2}]
    assert jsonschema_rs.is_valid(folded, body) == jsonschema_rs.is_valid(RULES, body)


def test_a_single_rule_stays() -> None:
    schema = {"allOf": RULES["allOf"][1:]}
    assert foldable({"components": {"schemas": {"A": schema}}})["components"]["schemas"]["A"] == schema


def test_the_fields_of_bodies() -> None:
    fields = {each.id: body_fields(each) for each in operations(DOCUMENT)}
    assert fields["list_models"] == set()
    assert fields["create_chat_completion"] > {"model", "messages", "max_completion_tokens", "stream"}
