"""A system's own OpenAPI document is read, whichever version of JSON Schema it has."""

import json

import pytest
import yaml
from support.drifting import document

from specvino.upstream.compare import Comparison
from specvino.upstream.described import Unreadable
from specvino.upstream.openapi_document import modernise, of_document, of_file


def theirs(schema):
    """A document as others write it: below the base path, the event of a stream as its schema."""
    content = {"application/json": {"schema": schema}, "text/event-stream": {"schema": schema}}
    operation = {"requestBody": {"$ref": "#/components/requestBodies/Body"}, "responses": {"200": {"content": content}}}
    return {
        "openapi": "3.0.3",
        "paths": {"/v1/chat": {"post": operation}, "/v1/other": {"get": {"responses": {}}}},
        "components": {"requestBodies": {"Body": {"content": content}}, "schemas": {"Thing": {"nullable": True}}},
    }


@pytest.mark.parametrize("name", ["api.json", "api.yaml"])
def test_a_document(tmp_path, name) -> None:
    file = tmp_path / name
    schema = {"$ref": "#/components/schemas/Thing"}
    file.write_text(json.dumps(theirs(schema)) if name.endswith("json") else yaml.safe_dump(theirs(schema)))
    found = of_file(file, document())
    assert found.parts == dict.fromkeys([("chat", "request"), ("chat", "response"), ("chat", "stream")], schema)
    assert found.document["components"]["schemas"]["Thing"] == {"anyOf": [{}, {"type": "null"}]}


def test_our_own_document_has_no_difference(tmp_path) -> None:
    file = tmp_path / "api.json"
    file.write_text(json.dumps(document()))
    comparison = Comparison(of_document(document()), of_file(file, document()), {})
    assert [difference for part in comparison.parts() for difference in comparison.of(part)] == []


def test_dates_of_yaml_are_texts(tmp_path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(yaml.safe_dump(theirs({"enum": ["x"]})).replace("- x", "- 2026-11-22"))
    assert of_file(file, document()).parts["chat", "request"] == {"enum": ["2026-11-22"]}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "nullable": True}, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        (
            {"$ref": "#/x", "nullable": True, "default": None},
            {"anyOf": [{"$ref": "#/x"}, {"type": "null"}], "default": None},
        ),
        ({"minimum": 0, "exclusiveMinimum": True}, {"exclusiveMinimum": 0}),
        ({"maximum": 9, "exclusiveMaximum": False}, {"maximum": 9}),
        ({"items": {"$recursiveRef": "#"}, "$recursiveAnchor": True}, {"items": {"$ref": "#/here"}}),
        ({"properties": {"nullable": {"nullable": True}}},
         {"properties": {"nullable": {"anyOf": [{}, {"type": "null"}]}}}),
    ],
)  # fmt: skip
def test_old_keywords(old, new) -> None:
    modernise(old, "#/here")
    assert old == new


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "is neither JSON nor YAML"), ("[]", "isn't an OpenAPI"), ("swagger: '2.0'", "isn't an OpenAPI")],
)
def test_what_is_no_document(tmp_path, text, why) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(text)
    with pytest.raises(Unreadable, match=why):
        of_file(file, document())


def test_a_file_that_is_not_there(tmp_path) -> None:
    with pytest.raises(Unreadable, match="can't be read"):
        of_file(tmp_path / "gone.yaml", document())
