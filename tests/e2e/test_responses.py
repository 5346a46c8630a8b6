"""Responses on the tiny trained model: exact, fast, and really generated."""

import httpx
import pytest
from support.streams import judged

from specvino.server.validation.schema import SchemaCheck

WORDS = ["hello", "capital", "count", "emoji", "json", "list", "yes"]
UNARY = SchemaCheck.of_component("ResponseObject")


@pytest.fixture(scope="module")
def client(tiny_server):
    with httpx.Client(base_url=tiny_server.url, timeout=300) as client:
        yield client


def post(client, input="hello", **fields):
    return client.post("/responses", json={"model": "tiny", "input": input, "temperature": 0, **fields})


def unary(client, input="hello", **fields):
    response = post(client, input, **fields)
    assert response.status_code == 200, response.text
    UNARY.require(response.json())
    return response.json()


def stream(client, input="hello", **fields):
    return judged("responses", post(client, input, stream=True, **fields))


def comparable(response):
    items = [{**item, "id": ""} for item in response["output"]]
    return {**response, "id": "", "created_at": 0, "completed_at": bool(response["completed_at"]), "output": items}


def text(response):
    (message,) = response["output"]
    (part,) = message["content"]
    return part["text"]


def test_what_the_model_learned(client) -> None:
    response = unary(client)
    assert text(response) == "Hello! How can I help you today?"
    assert (response["status"], response["incomplete_details"]) == ("completed", None)
    assert text(unary(client, "emoji")) == "你好 🎉 café!"


def test_a_response_that_is_cut(client) -> None:
    response = unary(client, "count", max_output_tokens=5)
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert response["usage"]["output_tokens"] == 5
    assert stream(client, "count", max_output_tokens=5)[-1]["type"] == "response.incomplete"


def count(client, **fields):
    return client.post("/responses/input_tokens", json={"model": "tiny", **fields})


def test_the_tokens_of_a_prompt_that_is_too_long_are_counted(client) -> None:
    long = "the " * 10_000
    assert post(client, long).json()["error"]["code"] == "context_length_exceeded"
    tokens = count(client, input=long).json()["input_tokens"]
    assert tokens > 10_000
    turns = [{"role": "user", "content": text} for text in (long, "hello")]
    assert count(client, input=turns).json()["input_tokens"] > tokens
    assert count(client, input=turns, truncation="auto").json() == count(client, input="hello").json()


def test_items_are_the_turns_that_chat_has(client) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Rome"}'}
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "weather Rome"}]},
        call,
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    ]
    assert text(unary(client, items)) == "It is sunny in Rome."


def test_instructions_are_the_system_turn_that_chat_has(client) -> None:
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]
    chat = client.post("/chat/completions", json={"model": "tiny", "messages": messages, "temperature": 0}).json()
    response = unary(client, instructions="be brief")
    assert text(response) == chat["choices"][0]["message"]["content"]
    assert response["usage"]["input_tokens"] == chat["usage"]["prompt_tokens"]
    assert response["instructions"] == "be brief"


def test_what_has_no_effect_is_reported_and_left_out_of_the_prompt(client) -> None:
    tools = [{"type": "web_search"}]
    response = post(client, tools=tools, include=["web_search_call.results"])
    assert response.headers["x-unsupported-params"] == "tools.0.type, include"
    assert text(response.json()) == text(unary(client))
    assert response.json()["usage"] == unary(client)["usage"]
    assert response.json()["tools"] == tools


@pytest.mark.parametrize(
    ("fields", "status", "code", "param"),
    [
        ({"previous_response_id": "resp_1"}, 404, "previous_response_not_found", "previous_response_id"),
        ({"background": True, "store": False}, 400, "invalid_value", "background"),
        (
            {"input": [{"type": "reasoning", "encrypted_content": "gAAAAA"}]},
            400,
            "invalid_encrypted_content",
            "input.0.encrypted_content",
        ),
        ({"tool_choice": "required", "tools": [{"type": "web_search"}]}, 400, "unsupported_tool", "tool_choice"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, 404, "item_not_found", "input.0.id"),
        ({"input": []}, 400, "empty_prompt", "input"),
        ({"input": [{"type": "nonsense"}]}, 400, "invalid_value", "input.0.type"),
        ({"input": [{"role": "user"}]}, 400, "missing_required_parameter", "input.0.content"),
        ({"input": "a " * 9000}, 400, "context_length_exceeded", "input"),
        ({"model": "gpt-9"}, 404, "model_not_found", "model"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_refusals(client, streamed, fields, status, code, param) -> None:
    response = client.post("/responses", json={"model": "tiny", "input": "hi", "stream": streamed, **fields})
    error = response.json()["error"]
    assert (response.status_code, error["code"], error["param"]) == (status, code, param)
