"""Operations, base paths and the generated documents in which they stand."""

from pathlib import Path
from typing import Any

import pytest

from specvino.document import loading
from specvino.document.loading import VOCABULARY, dialect_file, dialects, load, lowered, systems, whole
from specvino.document.operations import base_paths, by_endpoint
from specvino.document.walk import followed, reached


@pytest.mark.parametrize("document", [whole(), lowered()], ids=["3.2", "3.1"])
def test_a_stream_has_the_same_event_in_each_version(document: dict[str, Any]) -> None:
    chat = by_endpoint(document)["chat"]
    assert (chat.label, chat.id) == ("POST /chat/completions", "create_chat_completion")
    assert chat.body_component == "CreateChatCompletionRequest"
    assert chat.event == {"$ref": "#/components/schemas/ChatCompletionStreamEvent"}
    assert by_endpoint(document)["models"].event is None


def test_parameters_of_the_path_come_first() -> None:
    names = [parameter["name"] for parameter in by_endpoint(whole())["response"].parameters]
    assert names[0] == "response_id"
    assert "stream" in names


def test_servers_are_base_paths() -> None:
    assert base_paths(whole()) == ("/v1", "/v3", "/v3/v1")
    assert base_paths(load(dialect_file("openai"))) == ("/v1",)


def test_systems_are_the_documents_that_there_are() -> None:
    assert systems() == tuple(sorted(load(VOCABULARY)["$defs"]["system"]["enum"]))


def test_what_an_operation_reaches() -> None:
    chat = by_endpoint(whole())["chat"]
    assert {"CreateChatCompletionRequest", "LogitBias", "Error"} <= reached(whole(), chat.definition)
    assert "LogitBias" not in reached(whole(), by_endpoint(whole())["tokenize"].definition)


def test_a_mapping_of_a_discriminator_is_followed_too() -> None:
    document = {"components": {"schemas": {"A/B": {"$ref": "#/components/schemas/C"}, "C": {"type": "string"}}}}
    union = {"discriminator": {"propertyName": "type", "mapping": {"b": "#/components/schemas/A~1B"}}}
    assert reached(document, [union]) == {"A/B", "C"}


def test_what_is_referred_to_stands_where_the_reference_does_and_once() -> None:
    document = {"components": {"schemas": {"A": {"title": "a", "items": {"$ref": "#/components/schemas/A"}}}}}
    node = {"title": "first", "anyOf": [{"$ref": "#/components/schemas/A"}, {"title": "last"}]}
    titles = [(reference, schema["title"]) for reference, schema in followed(document, node) if "title" in schema]
    assert titles == [("", "first"), ("#/components/schemas/A", "a"), ("", "last")]
    with pytest.raises(KeyError):
        list(followed(document, {"$ref": "#/components/schemas/B"}))


def test_where_an_operation_is() -> None:
    ours = by_endpoint(whole())
    assert {name for name, operation in ours.items() if operation.is_also_at_root} >= {"health", "version"}
    assert not any(operation.is_only_at_root for operation in ours.values())
    theirs = by_endpoint(load(dialect_file("vllm")))
    assert theirs["version"].is_only_at_root
    assert not theirs["chat"].is_only_at_root
    assert not any(operation.is_also_at_root for operation in theirs.values())


def test_without_the_folder_there_are_no_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(loading, "files", lambda package: tmp_path)
    assert dialects.__wrapped__() == ()


def test_conditions_of_a_schema_come_before_the_others() -> None:
    operations = by_endpoint(whole())
    chat = list(operations["chat"].conditions)
    assert chat[0] == ("invalid_value", "stream_options requires stream to be true.")
    assert ("invalid_value", "`n` is above `best_of`.") in chat
    assert "model_not_found" not in dict(chat), "it is no condition between fields"
    assert list(operations["models"].conditions) == []
