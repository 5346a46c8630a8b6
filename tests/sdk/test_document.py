"""What a client is told of the document."""

import copy
from typing import Any

import pytest

from specvino.document.loading import dialect_file, load, systems
from specvino.sdk.document import document_of, for_requests, methods


def finals(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {method.id: method.finals for method in methods(document) if method.event}


def test_the_events_that_end_a_stream_are_those_of_its_table() -> None:
    document = copy.deepcopy(document_of(None))
    by_method = finals(document)
    assert set(by_method["create_response"]) == {
        "response.completed",
        "response.incomplete",
        "response.failed",
        "error",
    }
    assert by_method["retrieve_response"] == by_method["create_response"]
    assert by_method["create_chat_completion"] == (), "its terminator ends it"

    operation = document["paths"]["/responses"]["post"]
    operation["x-stream"]["machines"]["response"] |= {"end": ["response.over"], "fail": ["response.lost"], "abort": []}
    assert finals(document)["create_response"] == ("response.over", "response.lost")
    del operation["x-stream"]
    assert finals(document)["create_response"] == ()


def test_streams_of_lines() -> None:
    """They end with a line that has a field, and are what a body requests that says nothing."""
    by_method = {method.id: method for method in methods(document_of(None))}
    for name, answer in (("ollama_chat", "OllamaChatResponse"), ("ollama_generate", "OllamaGenerateResponse")):
        method = by_method[name]
        assert (method.event, method.terminator, method.finals) == (answer, None, ())
        assert (method.lines, method.final_field, method.streams_by_default) == (True, "done_reason", True)
    for name in ("create_chat_completion", "create_response", "create_message"):
        method = by_method[name]
        assert (method.lines, method.final_field, method.streams_by_default) == (False, None, False)


@pytest.mark.parametrize("system", ["ollama", "sglang"])
def test_a_system_s_lines_are_at_its_root(system: str) -> None:
    lines = [method for method in methods(document_of(system)) if method.lines]
    assert [(method.root, method.final_field, method.streams_by_default) for method in lines] == [
        (True, "done_reason", True)
    ] * 2


def test_conditions_of_a_system_keep_their_properties() -> None:
    """A property with the value null is a condition there, while a field that can only be null isn't sent."""
    own, sent = (conditions(document) for document in (load(dialect_file("vllm")), document_of("vllm")))
    assert '"const": null' in str(own) or "'type': 'null'" in str(own)
    assert sent == own


def conditions(document: dict[str, Any]) -> dict[str, Any]:
    return {name: schema["allOf"] for name, schema in document["components"]["schemas"].items() if "allOf" in schema}


def test_a_part_that_adds_a_field_has_no_conditions_on_others() -> None:
    """Generators would take these for a second field of the name."""
    for system in systems():
        for schema in for_requests(document_of(system))["components"]["schemas"].values():
            for part in schema.get("allOf", ()):
                assert not part.get("properties", {}).keys() & schema.get("properties", {}).keys(), schema["title"]
