"""A document of OpenAPI 3.0 accepts what the original accepts, and more only by what it lists as lost."""

import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openapi_schema_validator import OAS30Validator
from openapi_spec_validator import OpenAPIV30SpecValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012
from support.changed_bodies import changed_bodies
from support.exhaustive import sampled

from specvino.document.loading import dialect_file, dialects, load, lowered
from specvino.document.openapi_30 import ANNOTATIONS, to_30
from specvino.document.pointers import unescape
from specvino.document.transforms import copied, for_generators
from specvino.document.walk import objects

DOCUMENTS = ("specvino", *dialects())


@cache
def pair(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    original = for_generators(lowered() if name == "specvino" else load(dialect_file(name)))
    return original, to_30(original)


# The systems' documents are parts of ours.
@pytest.mark.parametrize("name", sampled(DOCUMENTS, "specvino", "vllm"))
def test_it_is_valid(name: str) -> None:
    _, older = pair(name)
    assert older["openapi"] == "3.0.3"
    assert list(OpenAPIV30SpecValidator(older).iter_errors()) == []


def registry(older: dict[str, Any]) -> Registry[Any]:
    """The document for openapi-schema-validator 0.8.1, without the discriminators: it raises TypeError for a list as
    their value, and they only help to find the branch.
    """
    judged = copied(older)
    for _, node in objects(judged):
        if isinstance(node.get("discriminator"), dict) and "propertyName" in node["discriminator"]:
            del node["discriminator"]
    judging: Registry[Any] = Registry().with_resource("urn:older", DRAFT202012.create_resource(judged))
    return judging


def without_lost(original: dict[str, Any], older: dict[str, Any]) -> dict[str, Any]:
    """The original without the keywords that are listed."""
    less = copied(original)
    for pointers in older["info"]["x-lost"].values():
        for pointer in pointers:
            *steps, last = map(unescape, pointer.split("/")[1:])
            node: Any = less
            for step in steps:
                node = node[int(step) if isinstance(node, list) else step]
            del node[last]
    return less


@pytest.mark.parametrize("name", DOCUMENTS)
def test_bodies_are_accepted_but_for_what_is_lost(name: str) -> None:
    original, older = pair(name)
    less = without_lost(original, older)
    resolve = registry(older)
    outcomes = {True: 0, False: 0}
    for reference, tried in changed_bodies(original):
        newer, without = (
            jsonschema_rs.Draft202012Validator({"$ref": reference, "components": document["components"]})
            for document in (original, less)
        )
        judge = OAS30Validator({"$ref": f"urn:older{reference}"}, registry=resolve)
        for body in tried:
            accepted = judge.is_valid(body)
            assert accepted == without.is_valid(body), (reference, body)
            assert accepted or not newer.is_valid(body), (reference, body)
            outcomes[accepted] += 1
    assert min(outcomes.values()) > 20


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_lost_is_where_it_was(name: str) -> None:
    original, older = pair(name)
    without_lost(original, older)  # KeyError for a pointer that leads nowhere
    assert older["info"]["x-lost"].keys() > ANNOTATIONS & {"contentSchema"}
    text = json.dumps({**older, "info": {}})
    for keyword in older["info"]["x-lost"].keys() - {"summary", "identifier"}:
        assert f'"x-{keyword}"' in text


SCHEMAS: list[dict[str, Any]] = [
    {"type": ["string", "null"], "maxLength": 1},
    {"type": "null"},
    {"const": None},
    {"const": 1},
    {"enum": ["a", None]},
    {"type": ["integer", "array", "null"], "items": {"type": "string"}, "maximum": 3},
    {"type": ["string", "integer"], "anyOf": [{"maxLength": 1}, {"minimum": 2}]},
    {"type": ["string", "number", "boolean", "array", "object", "null"]},
    {"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]},
    {"anyOf": [{"enum": ["a"]}, {"type": "null"}]},
    {"anyOf": [{"type": "string", "enum": ["a"]}, {"$ref": "#/components/schemas/A"}, {"type": "null"}]},
    {"oneOf": [{"type": "integer"}, {"type": "array"}, {"type": "null"}], "title": "T"},
    {"exclusiveMinimum": 1, "minimum": 0},
    {"exclusiveMaximum": 2, "maximum": 1},
    {"$ref": "#/components/schemas/A", "maximum": 2, "allOf": [{"minimum": 1}]},
    {"not": {"type": "null"}},
    {"not": {"contains": {"type": "string"}}},
    {"not": {"$ref": "#/components/schemas/B"}},
    {"oneOf": [{"type": "array", "contains": {"type": "string"}}, {"type": "array", "minItems": 1}]},
    {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
    {"type": "array", "items": False},
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    {"type": "object", "propertyNames": {"maxLength": 1}, "required": ["a"]},
    {"if": {"type": "string"}, "then": {"maxLength": 1}, "else": {"type": "integer"}},
]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 4) | st.sampled_from(["", "a", "ab"]),
    lambda child: st.lists(child, max_size=2) | st.dictionaries(st.sampled_from(["a", "ab", "b"]), child, max_size=2),
    max_leaves=4,
)
COMPONENTS: dict[str, Any] = {
    "A": {"type": ["integer", "null"]},
    "B": {"type": "array", "contains": {"type": "string"}},
}


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
@given(value=JSON_VALUES)
def test_schemas(schema: dict[str, Any], value: Any) -> None:
    original = {"info": {"license": {}}, "components": {"schemas": {**COMPONENTS, "S": schema}}}
    older = to_30(original)
    less = without_lost(original, older)
    newer, without = (
        jsonschema_rs.is_valid({"$ref": "#/components/schemas/S", "components": document["components"]}, value)
        for document in (original, less)
    )
    resolve = registry(older)
    accepted = OAS30Validator({"$ref": "urn:older#/components/schemas/S"}, registry=resolve).is_valid(value)
    assert accepted == without
    assert accepted or not newer
