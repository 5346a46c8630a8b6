"""Responses without an input, by a system that answers them: Ollama, which only loads the model."""

import json

import pytest
from support.app import Client, error_of

from specvino.conformance.dialect import Dialect
from specvino.conformance.streams.sse import Decoder
from specvino.conformance.streams.stream_validator import SseValidator
from specvino.document.loading import dialect_file, load
from specvino.document.validator import Validators
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers.limits import Limits
from specvino.server.dialect import speaker
from specvino.server.settings import Settings
from specvino.server.validation.schema import SchemaCheck

EMPTY = [{}, {"input": None}, {"input": ""}, {"input": []}]


def client(name: str) -> Client:
    engine = ScriptedEngine()
    return Client(engine, Settings(system=speaker(name, {"m": engine}, Limits(), named=True)))


@pytest.mark.parametrize("body", EMPTY, ids=str)
def test_nothing_is_asked(body) -> None:
    response = client("ollama").ask("POST", "/v1/responses", json={"model": "m", **body})
    assert response.status_code == 200, response.text
    answer = response.json()
    [item] = answer["output"]
    assert (answer["status"], item["type"], item["status"]) == ("completed", "message", "completed")
    assert [part["text"] for part in item["content"]] == [""]
    assert (answer["usage"]["input_tokens"], answer["usage"]["output_tokens"]) == (0, 0)
    document = load(dialect_file("ollama"))
    ok = document["paths"]["/responses"]["post"]["responses"]["200"]
    SchemaCheck(ok["content"]["application/json"]["schema"], Validators(document)).require(answer)


def test_instructions_alone_are_not_nothing() -> None:
    body = {"model": "m", "instructions": "Say hello."}
    response = client("ollama").ask("POST", "/v1/responses", json=body)
    assert response.status_code == 400
    assert "input has no item that the model can read" in response.json()["error"]["message"]


def test_nothing_is_asked_in_a_stream() -> None:
    response = client("ollama").ask("POST", "/v1/responses", json={"model": "m", "stream": True})
    events = list(Decoder().feed(response.content))
    assert json.loads(events[-1].data)["type"] == "response.completed"
    table = Dialect("ollama").stream("responses")
    assert table is not None
    validator = SseValidator(table)
    assert [violation for event in events for violation in validator.feed(event)] == []


@pytest.mark.parametrize("body", EMPTY[3:], ids=str)
def test_another_system_refuses_it(body) -> None:
    error_of(client("openai").ask("POST", "/v1/responses", json={"model": "m", **body}), 400, "empty_prompt")
