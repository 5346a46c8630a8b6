"""The Messages API on the tiny trained model, by HTTP."""

import httpx
import pytest
from support.serving_here import serving_here
from support.streams import judged

from specvino.conformance.streams.fold import fold_message
from specvino.server.validation.schema import SchemaCheck

UNARY = SchemaCheck.of_component("AnthropicMessage")
ERROR = SchemaCheck.of_component("AnthropicErrorResponse")
FRANCE = "The capital of France is Paris."
WORDS = ["hello", "capital", "count", "emoji", "json", "list", "yes", "think"]
TOOL = {
    "name": "get_weather",
    "description": "the",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


@pytest.fixture(scope="module")
def client(tiny_server):
    with httpx.Client(base_url=tiny_server.url, timeout=300) as client:
        yield client


def user(content):
    return {"role": "user", "content": content}


def assistant(content):
    return {"role": "assistant", "content": content}


def post(client, *messages, **fields):
    body = {"model": "tiny", "max_tokens": 512, "temperature": 0, "messages": list(messages)}
    return client.post("/messages", json=body | fields)


def unary(client, *messages, **fields):
    response = post(client, *messages, **fields)
    assert response.status_code == 200, response.text
    UNARY.require(response.json())
    return response.json()


def error(response, status, kind, code, param=None):
    assert response.status_code == status, response.text
    body = response.json()
    ERROR.require(body)
    details = body["error"]
    assert (details["type"], details["code"], details["param"]) == (kind, code, param)
    assert body["request_id"] == response.headers["x-request-id"]
    return details["message"]


def comparable(message):
    blocks = [{**block, "id": "", "signature": ""} for block in message["content"]]
    return {**message, "id": "", "content": blocks}


@pytest.mark.parametrize("word", WORDS)
def test_a_stream_adds_up_to_the_answer(client, word) -> None:
    events = judged("messages", post(client, user(word), stream=True))
    assert [event["type"] for event in events[:2]] == ["message_start", "ping"]
    assert comparable(fold_message(events)) == comparable(unary(client, user(word)))


def test_a_call_and_its_result(client) -> None:
    call = unary(client, user("weather Rome"), tools=[TOOL])
    (block,) = call["content"]
    assert (block["type"], block["name"], block["input"]) == ("tool_use", "get_weather", {"city": "Rome"})
    assert call["stop_reason"] == "tool_use"
    for content in ("sunny", [{"type": "text", "text": "sunny"}]):
        result = user([{"type": "tool_result", "tool_use_id": block["id"], "content": content}])
        answer = unary(client, user("weather Rome"), assistant(call["content"]), result, tools=[TOOL])
        assert [part["text"] for part in answer["content"]] == ["It is sunny in Rome."]
        assert answer["stop_reason"] == "end_turn"


def test_several_calls_have_their_results_in_one_message(client) -> None:
    tools = [TOOL, {**TOOL, "name": "get_time"}]
    calls = unary(client, user("both Paris"), tools=tools)["content"]
    assert [call["name"] for call in calls] == ["get_weather", "get_time"]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "sunny"} for call in calls]
    assert unary(client, user("both Paris"), assistant(calls), user(results), tools=tools)["content"]


def test_the_arguments_of_a_call_come_in_pieces(client) -> None:
    events = judged("messages", post(client, user("weather Rome"), tools=[TOOL], stream=True))
    pieces = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert {piece["type"] for piece in pieces} == {"input_json_delta"}
    assert len(pieces) > 1
    assert "".join(piece["partial_json"] for piece in pieces) == '{"city": "Rome"}'


def test_an_assistant_s_last_message_is_continued(client) -> None:
    answer = unary(client, user("capital"), assistant("The capital of France"))
    assert answer["content"][0]["text"] == " is Paris."


def test_reasoning_comes_back_signed(client) -> None:
    turn = unary(client, user("think"))
    thinking, text = turn["content"]
    assert (thinking["type"], text["text"]) == ("thinking", "The answer is 4.")
    assert unary(client, user("think"), assistant(turn["content"]), user("capital"))["content"][0]["text"] == FRANCE
    omitted = [{**thinking, "thinking": ""}, text]
    assert unary(client, user("think"), assistant(omitted), user("capital"))["content"][0]["text"] == FRANCE
    changed = [{**thinking, "thinking": "Two plus two is five."}, text]
    param = "messages.1.content.0.thinking"
    response = post(client, user("think"), assistant(changed), user("yes"))
    error(response, 400, "invalid_request_error", "invalid_encrypted_content", param)


CALL = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Rome"}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([user("weather Rome"), assistant([CALL]), user("and?")], "messages.1.content.0.id"),
        ([user("weather Rome"), assistant([CALL])], "messages.1.content.0.id"),
        ([user([RESULT])], "messages.0.content.0.tool_use_id"),
        ([user("weather Rome"), assistant([CALL]), user([RESULT, RESULT])], "messages.2.content.1.tool_use_id"),
        ([user("weather Rome"), assistant([CALL, CALL]), user([RESULT])], "messages.1.content.1.id"),
    ],
)
def test_calls_and_results_belong_together(client, messages, param) -> None:
    error(post(client, *messages, tools=[TOOL]), 400, "invalid_request_error", "invalid_value", param)


@pytest.mark.parametrize(
    "kind",
    ["web_search_20250305", "bash_20250124", "text_editor_20250728", "code_execution_20250825", "computer_20250124"],
)
def test_a_tool_of_the_provider_is_refused(client, kind) -> None:
    message = error(
        post(client, user("hello"), tools=[{"type": kind, "name": "provider"}]),
        400,
        "invalid_request_error",
        "invalid_value",
        "tools.0.type",
    )
    assert kind in message


def test_an_mcp_server_of_the_provider_is_refused(client) -> None:
    servers = [{"type": "url", "url": "https://mcp.example", "name": "a"}]
    response = post(client, user("hello"), mcp_servers=servers)
    error(response, 400, "invalid_request_error", "unsupported_parameter", "mcp_servers")


def test_a_conversation_that_the_provider_holds_is_refused(client) -> None:
    """With what lets Anthropic's SDK send the whole conversation."""
    response = post(client, user("hello"), thread={"type": "create"})
    error(response, 400, "invalid_request_error", "unsupported_parameter", "thread")
    details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    assert response.json()["error"]["details"] == details
    other = post(client, user("hello"), compaction={"instructions": "Be brief."})
    error(other, 400, "invalid_request_error", "unsupported_parameter", "compaction")


def test_what_is_read_without_an_effect_is_named(client) -> None:
    system = [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}]
    response = post(client, user("hello"), system=system, output_config={"effort": "low"}, metadata={"user_id": "ada"})
    assert response.status_code == 200
    assert response.headers["x-unsupported-params"] == "output_config.effort"


def test_mistakes(client) -> None:
    response = client.post("/messages", json={"model": "tiny", "messages": [user("hello")]})
    error(response, 400, "invalid_request_error", "missing_required_parameter", "max_tokens")
    error(post(client, user("hello"), model="claude"), 404, "not_found_error", "model_not_found", "model")
    error(post(client, user("the " * 10_000)), 400, "invalid_request_error", "context_length_exceeded", "messages")
    error(
        post(client, user("hello"), temperature=1.5),
        400,
        "invalid_request_error",
        "decimal_above_max_value",
        "temperature",
    )
    error(client.put("/messages", json={}), 405, "invalid_request_error", "method_not_allowed")


def test_max_tokens_may_exceed_the_context(client) -> None:
    """Claude Code asks for 32,000 tokens, the AI SDK for 4,096 and more, whatever the model."""
    assert unary(client, user("hello"), max_tokens=32_000)["stop_reason"] == "end_turn"


def test_tokens_are_counted_as_they_are_used(client) -> None:
    fields = {"model": "tiny", "messages": [user("weather Rome")], "tools": [TOOL], "system": "be brief"}
    counted = client.post("/messages/count_tokens", json=fields).json()
    assert counted == {"input_tokens": unary(client, *fields.pop("messages"), **fields)["usage"]["input_tokens"]}


@pytest.fixture(scope="module")
def keyed():
    with serving_here("--engine", "scripted", env={"SPECVINO_API_KEY": "sk-right"}) as server:
        yield server


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"x-api-key": "sk-right"}, 200),
        ({"authorization": "Bearer sk-right"}, 200),
        ({"x-api-key": "sk-right", "anthropic-version": "2023-06-01", "anthropic-beta": "a,b"}, 200),
        ({"x-api-key": "sk-wrong"}, 401),
        ({"authorization": "Bearer sk-wrong"}, 401),
        ({}, 401),
    ],
)
def test_keys(keyed, headers, status) -> None:
    body = {"model": "scripted", "max_tokens": 5, "messages": [user("hello")]}
    response = httpx.post(f"{keyed.url}/messages", json=body, headers=headers)
    assert response.status_code == status, response.text
    if status == 200:
        UNARY.require(response.json())
    else:
        error(response, 401, "authentication_error", "invalid_api_key")


def test_a_key_of_another_api_s_header_isn_t_read(keyed) -> None:
    """Anthropic's clients list models, and use the Messages API."""
    headers = {"x-api-key": "sk-right"}
    assert httpx.get(f"{keyed.url}/models", headers=headers).status_code == 200
    assert httpx.post(f"{keyed.url}/chat/completions", headers=headers, json={}).status_code == 401
