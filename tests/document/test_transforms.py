"""A document says the same in OpenAPI 3.1, in 3.2, and with its rules folded."""

import copy
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.changed_bodies import changed_bodies

from specvino.codegen.lint.documents import Validator31  # a tenth of the time of openapi-spec-validator's
from specvino.document.loading import dialect_file, load, lowered, systems, whole
from specvino.document.operations import METHODS, by_endpoint
from specvino.document.transforms import folded, for_generators, served_at, to_31, to_32


def test_31_is_valid_and_keeps_the_schema_of_events() -> None:
    document = lowered()
    assert list(Validator31(document).iter_errors()) == []
    stream = document["paths"]["/chat/completions"]["post"]["responses"]["200"]["content"]["text/event-stream"]
    assert stream["x-itemSchema"] == {"$ref": "#/components/schemas/ChatCompletionServerSentEvent"}
    assert stream["schema"]["type"] == "string"
    assert document["components"] == whole()["components"]
    assert "itemSchema" not in str(document["paths"]).replace("x-itemSchema", "")


def test_for_generators_links_have_no_bodies() -> None:
    adapted, ours = for_generators(lowered()), lowered()
    moved = kept = 0
    for path, item in ours["paths"].items():
        for method, operation in item.items():
            for status, response in operation["responses"].items() if method in METHODS else ():
                changed = adapted["paths"][path][method]["responses"][status]
                for name, link in response.get("links", {}).items():
                    has_body = isinstance(link.get("requestBody"), dict)
                    moved, kept = moved + has_body, kept + (not has_body)
                    assert changed["x-links" if has_body else "links"][name] == link
                    assert name not in changed.get("links" if has_body else "x-links", {})
    assert moved
    assert kept


def test_for_generators_only_links_with_a_body_move() -> None:
    links: dict[str, Any] = {"a": {"requestBody": {"model": "m"}}, "b": {"operationId": "get"}}
    document = {
        "paths": {"/a": {"get": {"responses": {"200": {"links": links}}}}},
        "components": {"schemas": {}},
    }
    assert for_generators(document)["paths"]["/a"]["get"]["responses"]["200"] == {
        "x-links": {"a": links["a"]},
        "links": {"b": links["b"]},
    }


def of_system(name: str) -> dict[str, Any]:
    return lowered() if name == "specvino" else load(dialect_file(name))


@pytest.mark.parametrize("name", ["specvino", *systems()])
def test_for_generators_bodies_are_accepted_as_before(name: str) -> None:
    document = of_system(name)
    changed = for_generators(document)
    assert list(Validator31(changed).iter_errors()) == []
    registries = [
        jsonschema_rs.Registry([("urn:document", {"components": own_document["components"]})])
        for own_document in (document, changed)
    ]
    outcomes = {True: 0, False: 0}
    for reference, bodies in changed_bodies(document):
        before, after = (
            jsonschema_rs.Draft202012Validator({"$ref": f"urn:document{reference}"}, registry=registry)
            for registry in registries
        )
        for body in bodies:
            accepted = before.is_valid(body)
            assert accepted == after.is_valid(body), body
            outcomes[accepted] += 1
    assert min(outcomes.values()) > 20


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"enum": ["a", None]}, {"enum": ["a", None], "type": ["string", "null"]}),
        ({"enum": [1, "a"]}, {"enum": [1, "a"]}),
        ({"enum": [None]}, {"enum": [None]}),
        ({"type": ["string", "null"], "default": "a"}, {"type": ["string", "null"], "default": "a"}),
        ({"type": ["string", "boolean", "number", "array", "object", "null"]}, {}),
        (
            {"type": ["array", "integer", "null"], "items": {"type": "string"}, "default": 1},
            {
                "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "integer"}, {"type": "null"}],
                "x-default": 1,
            },
        ),
        (
            {"properties": {"a": {"type": "null", "title": "A"}}},
            {"properties": {"a": {"const": None, "title": "A"}}},
        ),
        (
            {"properties": {}, "allOf": [{"if": {"required": ["a"]}, "then": False}, {"required": ["b"]}]},
            {
                "properties": {},
                "if": {},
                "then": {"allOf": [{"if": {"required": ["a"]}, "then": False}, {"required": ["b"]}]},
            },
        ),
        (
            {"properties": {}, "allOf": [{"allOf": [{"required": ["a"]}]}]},
            {"properties": {}, "if": {}, "then": {"allOf": [{"allOf": [{"required": ["a"]}]}]}},
        ),
        ({"properties": {}, "allOf": [{"required": ["a"]}]}, {"properties": {}, "allOf": [{"required": ["a"]}]}),
    ],
)
def test_for_generators_form_of_a_schema(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    document = {"paths": {}, "components": {"schemas": {"ResponseError": schema}}}
    assert for_generators(document)["components"]["schemas"] == {"ErrorOfResponse": expected}


@pytest.mark.parametrize(
    ("path", "url"), [("/openapi.json", "./v1"), ("/v1/openapi.json", "../v1"), ("/v3/v1/openapi.json", "../../v1")]
)
def test_servers_are_relative_to_the_document(path: str, url: str) -> None:
    assert served_at(path, lowered())["servers"][0]["url"] == url
    assert lowered()["servers"][0]["url"] == "/v1"


def test_servers_of_an_operation_are_relative_too() -> None:
    item = {"parameters": [], "get": {"servers": [{"url": "/"}]}}
    document = {"servers": [], "paths": {"/health": item}}
    assert served_at("/openapi.json", document)["paths"]["/health"]["get"]["servers"] == [{"url": "./"}]
    assert served_at("/v1/openapi.json", document)["paths"]["/health"]["get"]["servers"] == [{"url": "../"}]


def test_nothing_is_changed_in_place() -> None:
    before = copy.deepcopy(whole())
    to_31(whole())
    assert whole() == before


def test_ours_comes_back_but_for_what_3_1_has_no_place_for() -> None:
    raised = to_32(lowered())
    assert to_32(raised) == raised
    named = [
        {**server, "name": entry["name"]} for server, entry in zip(raised["servers"], whole()["servers"], strict=True)
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
    assert [rule["x-error"]["param"] for rule in schema["not"]["anyOf"]] == ["a", "b"]
