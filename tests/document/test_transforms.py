"""A document says the same in OpenAPI 3.1, in 3.2, and with its rules folded."""

import copy
from typing import Any

import jsonschema_rs
from hypothesis import given
from hypothesis import strategies as st
from openapi_spec_validator import OpenAPIV31SpecValidator

from specvino.document.loading import dialect_file, load, lowered, systems, whole
from specvino.document.operations import by_endpoint
from specvino.document.transforms import folded, for_generators, to_31, to_32


def test_31_is_valid_and_keeps_the_schema_of_events() -> None:
    document = lowered()
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    stream = document["paths"]["/chat/completions"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    assert stream["x-itemSchema"] == {"$ref": "#/components/schemas/ChatCompletionServerSentEvent"}
    assert stream["schema"]["type"] == "string"
    assert document["components"] == whole()["components"]
    assert "itemSchema" not in str(document["paths"]).replace("x-itemSchema", "")


def test_for_generators_links_have_no_bodies() -> None:
    answers = whole()["paths"]["/models"]["get"]["responses"]["200"]
    found = for_generators(lowered())
    assert found["paths"]["/models"]["get"]["responses"]["200"]["x-links"] == answers["links"]
    links = [
        link
        for item in found["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
        for response in operation["responses"].values()
        for link in response.get("links", {}).values()
    ]
    assert links
    assert not any(isinstance(link.get("requestBody"), dict) for link in links)
    assert "links" in lowered()["paths"]["/models"]["get"]["responses"]["200"]


def test_nothing_is_changed_in_place() -> None:
    before = copy.deepcopy(whole())
    to_31(whole())
    assert whole() == before


def test_ours_comes_back_but_for_what_3_1_has_no_place_for() -> None:
    raised = to_32(lowered())
    named = [
        {**server, "name": each["name"]} for server, each in zip(raised["servers"], whole()["servers"], strict=True)
    ]
    tags = [{**tag, "kind": "nav"} for tag in raised["tags"]]
    assert raised | {"servers": named, "tags": tags} == whole()


def test_that_of_another_system_keeps_its_events() -> None:
    for system in systems():
        document = load(dialect_file(system))
        raised = to_32(document)
        assert raised["openapi"] == "3.2.0"
        assert by_endpoint(raised)["chat"].event == by_endpoint(document)["chat"].event
        assert "x-itemSchema" not in str(raised)


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
