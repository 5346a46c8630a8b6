"""Compaction on the tiny trained model: by /responses/compact, and by a response that is told to."""

import httpx
import pytest
from support.streams import judged

from specvino.server.validation.schema import SchemaCheck

RESPONSE = SchemaCheck.of_component("ResponseObject")
COMPACTED = SchemaCheck.of_component("CompactedResponse")
SOON = [{"type": "compaction", "compact_threshold": 20}]


@pytest.fixture(scope="module")
def client(tiny_server):
    with httpx.Client(base_url=tiny_server.url, timeout=300) as client:
        yield client


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


CONVERSATION = [user("hello"), assistant("Hello! How can I help you today?"), user("capital")]


def respond(client, input, **fields):
    body = {"model": "tiny", "temperature": 0, "max_output_tokens": 64, "input": input}
    response = client.post("/responses", json=body | fields)
    assert response.status_code == 200, response.text
    RESPONSE.require(response.json())
    return response.json()


def compact(client, **fields):
    response = client.post("/responses/compact", json={"model": "tiny"} | fields)
    assert response.status_code == 200, response.text
    COMPACTED.require(response.json())
    return response.json()


def count(client, input, **fields):
    answer = client.post("/responses/input_tokens", json={"model": "tiny", "input": input} | fields)
    assert answer.status_code == 200, answer.text
    return answer.json()["input_tokens"]


def refusal(client, input):
    response = client.post("/responses", json={"model": "tiny", "input": input})
    assert response.status_code == 400, response.text
    return response.json()["error"]["code"], response.json()["error"]["param"]


def test_the_users_messages_and_a_summary(client) -> None:
    compacted = compact(client, input=CONVERSATION)
    *messages, summary = compacted["output"]
    assert [(item["role"], item["content"][0]["text"]) for item in messages] == [("user", "hello"), ("user", "capital")]
    assert summary.keys() == {"id", "type", "encrypted_content"}
    assert summary["type"] == "compaction"
    assert compacted["usage"]["output_tokens"] > 0


def test_the_output_takes_the_place_of_the_conversation(client) -> None:
    output = compact(client, input=CONVERSATION)["output"]
    question = user("capital")
    with_summary, without = count(client, [*output, question]), count(client, [*output[:-1], question])
    assert with_summary > without
    assert respond(client, [*output, question])["usage"]["input_tokens"] == with_summary
    again = compact(client, input=[*output, question])["output"]
    assert [item["type"] for item in again] == ["message", "message", "message", "compaction"]


def test_a_text_and_a_stored_response(client) -> None:
    assert [item["type"] for item in compact(client, input="hello")["output"]] == ["message", "compaction"]
    first = respond(client, "hello")
    output = compact(client, previous_response_id=first["id"], input="capital")["output"]
    assert [item["content"][0]["text"] for item in output[:-1]] == ["hello", "capital"]


def test_a_conversation_that_is_too_long_is_compacted(client) -> None:
    """Its oldest turns aren't a part of the summary."""
    long = [user("the " * 3000), assistant("big"), *CONVERSATION]
    assert compact(client, input=long)["output"][-1]["type"] == "compaction"


def test_what_can_not_be_compacted(client) -> None:
    nothing = client.post("/responses/compact", json={"model": "tiny"})
    assert (nothing.status_code, nothing.json()["error"]["code"]) == (400, "empty_prompt")
    unknown = client.post("/responses/compact", json={"model": "tiny", "previous_response_id": "resp_1"})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "previous_response_not_found")


def test_only_own_compactions_are_read(client) -> None:
    *_, summary = compact(client, input="hello")["output"]
    changed = {**summary, "encrypted_content": summary["encrypted_content"][:-8] + "AAAAAAA="}
    param = "input.0.encrypted_content"
    assert refusal(client, [changed, user("hello")]) == ("invalid_encrypted_content", param)
    thought = respond(client, "think", include=["reasoning.encrypted_content"])["output"][0]
    assert thought["type"] == "reasoning"
    other = {**summary, "encrypted_content": thought["encrypted_content"]}
    assert refusal(client, [other, user("hello")]) == ("invalid_encrypted_content", param)


def test_a_response_compacts_above_the_threshold(client) -> None:
    whole = count(client, CONVERSATION)
    assert whole > SOON[0]["compact_threshold"]
    response = respond(client, CONVERSATION, context_management=SOON)
    assert [item["type"] for item in response["output"]] == ["compaction", "message"]
    below = [{"type": "compaction", "compact_threshold": whole}]
    assert [item["type"] for item in respond(client, CONVERSATION, context_management=below)["output"]] == ["message"]
    by_default = respond(client, CONVERSATION, context_management=[{"type": "compaction"}])
    assert [item["type"] for item in by_default["output"]] == ["message"]


def test_a_single_turn_is_not_compacted(client) -> None:
    assert respond(client, "hello " * 30, context_management=SOON)["output"][0]["type"] == "message"


def test_a_compaction_replaces_what_was_before_it(client) -> None:
    """In a stored conversation, and in a client's own."""
    response = respond(client, CONVERSATION, context_management=SOON)
    question = user("count")
    continued = count(client, [question], previous_response_id=response["id"])
    assert count(client, [*CONVERSATION, *response["output"], question]) == continued
    assert count(client, [*response["output"], question]) == continued
    assert count(client, [{"role": "developer", "content": "big"}, *response["output"], question]) > continued
    output = compact(client, previous_response_id=response["id"], input=[question])["output"]
    assert [item["content"][0]["text"] for item in output[:-1]] == ["count"]


def test_a_stream_begins_with_the_compaction(client) -> None:
    body = {"model": "tiny", "input": CONVERSATION, "context_management": SOON, "stream": True, "max_output_tokens": 8}
    events = judged("responses", client.post("/responses", json=body))
    types = [event["type"] for event in events]
    assert types[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
    ]
    assert events[2]["item"] == events[3]["item"] == events[-1]["response"]["output"][0]
