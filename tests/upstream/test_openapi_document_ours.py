"""What the document of a system has, by endpoint and part."""

from support.drifting import document

from specvino.upstream import openapi_document


def test_parts() -> None:
    parts = openapi_document.of_document(document()).parts
    assert parts.keys() == {("chat", "request"), ("chat", "response"), ("chat", "stream"), ("error", "response")}
    # An error in a stream is a part of its own.
    assert parts["chat", "stream"] == {"anyOf": [{"$ref": "#/components/schemas/Chunk"}]}


def test_levels() -> None:
    whole = document()
    properties = whole["components"]["schemas"]["Request"]["properties"]
    properties["seed"]["x-support"] = {"chat.seed": {"tiny": "ignored", "other": "full"}}
    properties["stream"]["x-support"] = {"chat.stream": {"tiny": {"level": "refused", "note": "So."}, "other": "full"}}
    assert openapi_document.levels(whole, "tiny") == {"chat.seed": "ignored", "chat.stream": "refused"}
