"""Where OVMS misleads its clients this server does otherwise, beyond the kind of an answer (test_answers)."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from support.app import error_of
from support.streams import judged

from specvino.generated.errors import ERRORS

SAMPLED: dict[str, Any] = {"temperature": 2, "top_k": -1, "max_tokens": 12}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = [
    {"type": "function", "name": name, "parameters": CITY | {"additionalProperties": False}}
    for name in ("get_weather", "get_time")
]


@pytest.fixture(scope="module")
def client(clients: Callable[[str], httpx.Client]) -> httpx.Client:
    return clients("text")


def chat(client: httpx.Client, text: str = "hello", **fields: Any) -> httpx.Response:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "temperature": 0, **fields}
    return client.post("/v3/chat/completions", json=body)


def complete(client: httpx.Client, prompt: str = "hello", **fields: Any) -> httpx.Response:
    body = {"model": "m", "prompt": prompt, "temperature": 0, "max_tokens": 12, **fields}
    return client.post("/v3/completions", json=body)


def respond(client: httpx.Client, input: Any = "hello", **fields: Any) -> httpx.Response:
    return client.post("/v3/responses", json={"model": "m", "input": input, "temperature": 0, **fields})


def whole(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    return response.json()


def contents(answer: dict[str, Any]) -> list[str]:
    return [choice["message"]["content"] for choice in answer["choices"]]


def deltas(chunks: list[dict[str, Any]], index: int = 0) -> list[dict[str, Any]]:
    """What a chat stream says of one choice."""
    return [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == index]


def streamed_text(chunks: list[dict[str, Any]], index: int = 0) -> str:
    return "".join(choice["delta"].get("content") or "" for choice in deltas(chunks, index))


def test_no_error_has_a_status_that_clients_can_t_make_sense_of() -> None:
    assert {entry.status for entry in ERRORS.values()} & {406, 412} == set()


def test_ids_are_unique_and_say_what_they_name(client) -> None:
    for ask, kind in ((chat, "chatcmpl-"), (complete, "cmpl-"), (respond, "resp_")):
        ids = {whole(ask(client))["id"] for _ in range(3)}
        assert len(ids) == 3
        assert all(re.fullmatch(kind + "[0-9a-f]{32}", id) for id in ids)


def test_items_of_responses_have_ids_that_say_what_they_are(client) -> None:
    message, other = (whole(respond(client))["output"][0]["id"] for _ in range(2))
    assert message != other
    assert message.startswith("msg_")
    thought = whole(respond(client, "think"))["output"][0]
    assert (thought["type"], thought["id"][:3]) == ("reasoning", "rs_")
    first, second = whole(respond(client, "both Paris", tools=TOOLS))["output"]
    assert {call["type"] for call in (first, second)} == {"function_call"}
    assert {call["id"][:3] for call in (first, second)} == {"fc_"}
    assert {call["call_id"][:5] for call in (first, second)} == {"call_"}
    assert first["call_id"] != second["call_id"]


def test_each_choice_of_a_stream_begins_with_its_role(client) -> None:
    chunks = judged("chat", chat(client, stream=True, n=2, **SAMPLED | {"seed": 1}))
    for index in (0, 1):
        first, *others = (choice["delta"] for choice in deltas(chunks, index))
        assert first["role"] == "assistant"
        assert not any("role" in delta for delta in others)


def test_choices_are_drawn_with_the_seed_plus_their_index(client) -> None:
    settings = SAMPLED | {"seed": 7}
    texts = contents(whole(chat(client, n=3, **settings)))
    assert len(set(texts)) == 3
    chunks = judged("chat", chat(client, n=3, stream=True, **settings))
    assert [streamed_text(chunks, index) for index in range(3)] == texts
    assert [contents(whole(chat(client, **settings | {"seed": 7 + index})))[0] for index in range(3)] == texts


def test_a_stream_has_the_logprobs_that_the_whole_answer_has(client) -> None:
    expected = whole(chat(client, logprobs=True))["choices"][0]["logprobs"]["content"]
    chunks = judged("chat", chat(client, logprobs=True, stream=True))
    tokens = [token for choice in deltas(chunks) for token in (choice["logprobs"] or {}).get("content") or ()]
    assert [token["token"] for token in tokens] == [token["token"] for token in expected]
    assert [token["logprob"] for token in tokens] == pytest.approx([token["logprob"] for token in expected])


@pytest.mark.parametrize(
    ("included", "text"), [(None, "The capital of "), (False, "The capital of "), (True, "The capital of France")]
)
def test_a_stream_has_its_stop_text_only_where_asked(client, included, text) -> None:
    fields = {"stop": "France", "include_stop_str_in_output": included}
    assert contents(whole(chat(client, "capital", **fields))) == [text]
    assert streamed_text(judged("chat", chat(client, "capital", stream=True, **fields))) == text


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_that_can_t_be_kept_is_no_free_answer(client, stream) -> None:
    wrong = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "nonsense"}}}
    error = error_of(chat(client, response_format=wrong, stream=stream), 400, "invalid_schema")
    assert error["param"] == "response_format.json_schema.schema.type"
    unique = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    schema = {"type": "object", "properties": {"a": unique}, "required": ["a"], "additionalProperties": False}
    named = {"name": "n", "schema": schema}
    param = "response_format.json_schema.schema.properties.a.uniqueItems"
    strict = {"type": "json_schema", "json_schema": named | {"strict": True}}
    error = error_of(chat(client, response_format=strict, stream=stream), 400, "unsupported_schema")
    assert error["param"] == param
    loose = chat(client, response_format={"type": "json_schema", "json_schema": named}, stream=stream, max_tokens=5)
    assert loose.headers["x-unsupported-params"] == param


@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "get_time"}])
@pytest.mark.parametrize("stream", [False, True])
def test_a_forced_call_is_made(client, choice, stream) -> None:
    response = respond(client, "hello", tools=TOOLS, tool_choice=choice, stream=stream, max_output_tokens=100)
    answer = judged("responses", response)[-1]["response"] if stream else whole(response)
    calls = [item for item in answer["output"] if item["type"] == "function_call"]
    assert calls
    assert {call["name"] for call in calls} <= {"get_weather", "get_time"}
    assert choice == "required" or {call["name"] for call in calls} == {"get_time"}
    assert all(json.loads(call["arguments"]).keys() == {"city"} for call in calls)


def test_a_tool_that_was_not_given_can_t_be_forced(client) -> None:
    unknown = {"type": "function", "name": "zzz"}
    for ask in (chat, respond):
        response = ask(client, tools=TOOLS, tool_choice=unknown)
        assert response.status_code == 400, response.text
        assert response.json()["error"]["param"].startswith("tool_choice")


def test_responses_have_instructions_structured_outputs_and_memory(client) -> None:
    first = whole(respond(client, instructions="be brief"))
    assert first["instructions"] == "be brief"
    assert first["usage"]["input_tokens"] > whole(respond(client))["usage"]["input_tokens"]
    formed = whole(respond(client, text={"format": {"type": "json_schema", "name": "n", "schema": CITY}}))
    assert json.loads(formed["output"][0]["content"][0]["text"]).keys() == {"city"}
    assert whole(client.get(f"/v3/responses/{first['id']}")) == first
    second = whole(respond(client, "count", previous_response_id=first["id"]))
    assert second["usage"]["input_tokens"] > whole(respond(client, "count"))["usage"]["input_tokens"]
    error_of(respond(client, previous_response_id="resp_1"), 404, "previous_response_not_found")
    forgotten = whole(respond(client, store=False))
    error_of(client.get(f"/v3/responses/{forgotten['id']}"), 404, "response_not_found")


def test_usage_has_details(client) -> None:
    answer = whole(chat(client))["usage"]
    assert answer["completion_tokens_details"]["reasoning_tokens"] == 0
    response = whole(respond(client, "think"))["usage"]
    assert 0 < response["output_tokens_details"]["reasoning_tokens"] < response["output_tokens"]
    assert response["input_tokens_details"]["cached_tokens"] >= 0


def test_a_response_that_is_cut_says_so_in_openai_s_words(client) -> None:
    cut = {"max_output_tokens": 3}
    answer = whole(respond(client, "count", **cut))
    *_, last = judged("responses", respond(client, "count", stream=True, **cut))
    assert last["type"] == "response.incomplete"
    for response in (answer, last["response"]):
        assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
