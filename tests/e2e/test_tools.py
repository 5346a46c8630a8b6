"""Tools and thoughts through HTTP: on the tiny model, which was taught both, and on the scripted engine."""

import json

import httpx
import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.streams import judged

from specvino.conformance.streams.fold import fold_chat, fold_response

CITY = {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]}
TOOLS = [
    {"type": "function", "name": name, "description": "the", "parameters": CITY} for name in ("get_weather", "get_time")
]
NESTED = [{"type": "function", "function": {key: tool[key] for key in tool if key != "type"}} for tool in TOOLS]
THOUGHTS = "Let me see. Two plus two is four."


@pytest.fixture(scope="module", params=["tiny_server", "scripted_server"])
def any_client(request):
    server = request.getfixturevalue(request.param)
    with httpx.Client(base_url=server.url, timeout=300) as client:
        yield client


@pytest.fixture(scope="module")
def client(tiny_server):
    with httpx.Client(base_url=tiny_server.url, timeout=300) as client:
        yield client


def post(client, path, stream, body):
    model = client.get("/models").json()["data"][0]["id"]
    response = client.post(path, json={"model": model, "temperature": 0, "store": False, **body, "stream": stream})
    assert response.status_code == 200, response.text
    return response


def chat(client, messages, stream, **fields):
    """The answer; of a stream what its chunks add up to."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    options = {"stream_options": {"include_usage": True}} if stream else {}
    response = post(client, "/chat/completions", stream, {"messages": messages, "tools": NESTED, **options, **fields})
    return fold_chat(judged("chat", response)) if stream else response.json()


def respond(client, input, stream, **fields):
    response = post(client, "/responses", stream, {"input": input, "tools": TOOLS, **fields})
    if not stream:
        return response.json()
    events = judged("responses", response)
    assert fold_response(events) == events[-1]["response"]
    return events[-1]["response"]


def message(answer):
    return answer["choices"][0]["message"]


def called(answer):
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"])) for call in message(answer)["tool_calls"]
    ]


def items(response, kind):
    return [item for item in response["output"] if item["type"] == kind]


# The last bits of a probability depend on what is in the prefix cache.
NEW = ("id", "call_id", "item_id", "created", "created_at", "completed_at", "logprob")


def comparable(value):
    """Without what is new each time."""
    if isinstance(value, dict):
        return {key: comparable(inner) for key, inner in value.items() if key not in NEW}
    return [comparable(element) for element in value] if isinstance(value, list) else value


CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
# fmt: off
WORDS = ["hello", "think", "weather Paris", "both Rome", "json", "é", CALL, "<think>\na\n</think>", "<tool_call>"]
# fmt: on
FIELDS = {
    "tool_choice": st.sampled_from(["auto", "none", "required", {"type": "function", "name": "get_time"}]),
    "parallel_tool_calls": st.booleans(),
    "chat_template_kwargs": st.fixed_dictionaries({"enable_thinking": st.booleans()}),
    "stop": st.sampled_from(["city", "e", "tool"]),
}
CHAT_FIELDS = FIELDS | {
    "n": st.integers(1, 3),
    "logprobs": st.booleans(),
    "reasoning_effort": st.sampled_from(["none", "low"]),
}
RESPONSE_FIELDS = FIELDS | {
    "top_logprobs": st.integers(0, 1),
    "reasoning": st.fixed_dictionaries(
        {"effort": st.sampled_from(["none", "low"]), "summary": st.sampled_from(["auto", None])}
    ),
}
# The directives are the scripted engine's; to the tiny model they are words.
SCRIPTS = st.sampled_from(["", "script: think=1\n", "script: calls=2\n", "script: think=1 calls=1\n"])
ASKED = st.builds("".join, st.tuples(SCRIPTS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("\n".join)))


@settings(max_examples=40)
@given(text=ASKED, fields=st.fixed_dictionaries({"max_tokens": st.integers(1, 80)}, optional=CHAT_FIELDS))
def test_folding_a_chat_stream_gives_the_unary_answer(any_client, text, fields) -> None:
    unary, streamed = (chat(any_client, text, stream, **fields) for stream in (False, True))
    assert comparable(streamed) == comparable(unary)
    for choice in unary["choices"]:
        if choice["finish_reason"] == "tool_calls":
            for call in choice["message"]["tool_calls"]:
                assert isinstance(json.loads(call["function"]["arguments"]), dict)


@settings(max_examples=40)
@given(text=ASKED, fields=st.fixed_dictionaries({"max_output_tokens": st.integers(1, 80)}, optional=RESPONSE_FIELDS))
def test_folding_a_response_s_stream_gives_the_unary_answer(any_client, text, fields) -> None:
    unary, streamed = (respond(any_client, text, stream, **fields) for stream in (False, True))
    assert comparable(streamed) == comparable(unary)


both_ways = pytest.mark.parametrize("stream", [False, True], ids=["unary", "streamed"])


@both_ways
def test_calls_in_chat(client, stream) -> None:
    answer = chat(client, "both Rome", stream)
    assert called(answer) == [("get_weather", {"city": "Rome"}), ("get_time", {"city": "Rome"})]
    assert message(answer)["content"] is None
    assert answer["choices"][0]["finish_reason"] == "tool_calls"


@both_ways
def test_calls_in_responses(client, stream) -> None:
    response = respond(client, "both Rome", stream)
    calls = items(response, "function_call")
    assert response["output"] == calls
    assert [(call["name"], json.loads(call["arguments"]), call["status"]) for call in calls] == [
        (name, {"city": "Rome"}, "completed") for name in ("get_weather", "get_time")
    ]
    assert response["status"] == "completed"


@both_ways
def test_the_loop_in_chat(client, stream) -> None:
    asked = {"role": "user", "content": "weather Paris"}
    call = message(chat(client, [asked], stream))
    result = {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": "sunny"}
    answer = chat(client, [asked, call, result], stream)
    assert message(answer)["content"] == "It is sunny in Paris."
    assert answer["choices"][0]["finish_reason"] == "stop"


@both_ways
def test_the_loop_in_responses(client, stream) -> None:
    asked = {"role": "user", "content": "weather Paris"}
    first = respond(client, [asked], stream)
    (call,) = items(first, "function_call")
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    response = respond(client, [asked, *first["output"], result], stream)
    assert items(response, "message")[0]["content"][0]["text"] == "It is sunny in Paris."


def test_the_loop_with_stored_responses(client) -> None:
    first = respond(client, "weather Paris", False, store=True)
    (call,) = items(first, "function_call")
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    response = respond(client, [result], False, previous_response_id=first["id"])
    assert items(response, "message")[0]["content"][0]["text"] == "It is sunny in Paris."


@both_ways
@pytest.mark.parametrize("choice", ["required", {"type": "function", "name": "get_time"}])
def test_forced_calls(client, stream, choice) -> None:
    answer, response = (
        chat(client, "hello", stream, tool_choice=choice),
        respond(client, "hello", stream, tool_choice=choice),
    )
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    made = called(answer)
    assert made == [(c["name"], json.loads(c["arguments"])) for c in items(response, "function_call")]
    assert all(jsonschema_rs.is_valid(CITY, arguments) for _, arguments in made)
    if choice != "required":
        assert [name for name, _ in made] == ["get_time"]
        assert response["tool_choice"] == choice


@both_ways
def test_no_tools_are_shown_where_none_may_be_called(client, stream) -> None:
    answer = chat(client, "weather Paris", stream, tool_choice="none")
    assert answer["choices"][0]["message"]["content"]
    assert answer["usage"]["prompt_tokens"] < 40


@both_ways
def test_cut_inside_of_a_call(client, stream) -> None:
    whole = chat(client, "weather Paris", False)["usage"]["completion_tokens"]
    for tokens in range(1, whole):
        answer = chat(client, "weather Paris", stream, max_tokens=tokens)
        assert answer["choices"][0]["finish_reason"] == "length"
        assert not message(answer)["content"]
    broken = message(chat(client, "weather Paris", stream, max_tokens=36))["tool_calls"][0]["function"]
    assert broken == {"name": "get_weather", "arguments": '{"city": "P'}
    response = respond(client, "weather Paris", stream, max_output_tokens=36)
    (call,) = items(response, "function_call")
    assert (response["status"], call["status"], call["arguments"]) == ("incomplete", "incomplete", '{"city": "P')


@both_ways
@pytest.mark.parametrize(("choice", "asked"), [("auto", f"So: {CALL}"), ("required", "")])
def test_of_a_call_that_is_cut_no_markup_is_shown(scripted_server, stream, choice, asked) -> None:
    asked = f"script: token_bytes=1\n{asked}"
    with httpx.Client(base_url=scripted_server.url) as client:
        for tokens in range(4, 60, 5):
            answer = chat(client, asked, stream, tool_choice=choice, max_tokens=tokens, logprobs=True)
            response = respond(client, asked, stream, tool_choice=choice, max_output_tokens=tokens)
            assert (message(answer)["content"] or "").strip() == ("So:" if choice == "auto" else "")
            shown = "".join(item["content"][0]["text"] for item in items(response, "message"))
            assert shown == (message(answer)["content"] or "")
            assert len(answer["choices"][0]["logprobs"]["content"]) == answer["usage"]["completion_tokens"] == tokens


@both_ways
def test_reasoning(client, stream) -> None:
    answer, response = chat(client, "think", stream, tools=[]), respond(client, "think", stream, tools=[])
    answered = message(answer)
    assert (answered["reasoning_content"], answered["reasoning"], answered["content"]) == (
        THOUGHTS,
        THOUGHTS,
        "The answer is 4.",
    )
    assert answer["usage"]["completion_tokens_details"] == {"reasoning_tokens": 23}
    reasoning, text = response["output"]
    assert reasoning["content"] == [{"type": "reasoning_text", "text": THOUGHTS}]
    assert (reasoning["summary"], reasoning["status"]) == ([], "completed")
    assert text["content"][0]["text"] == "The answer is 4."
    assert response["usage"]["output_tokens_details"] == {"reasoning_tokens": 23}


@both_ways
def test_cut_inside_of_thoughts(client, stream) -> None:
    answer, response = (
        chat(client, "think", stream, tools=[], max_tokens=8),
        respond(client, "think", stream, tools=[], max_output_tokens=8),
    )
    assert message(answer)["content"] == ""
    assert message(answer)["reasoning_content"] == "Let me see."
    assert answer["choices"][0]["finish_reason"] == "length"
    (reasoning,) = response["output"]
    assert (reasoning["content"][0]["text"], reasoning["status"]) == ("Let me see.", "incomplete")
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}


@both_ways
def test_probabilities_of_every_token(client, stream) -> None:
    answer = chat(client, "think", stream, tools=[], logprobs=True)
    tokens = answer["choices"][0]["logprobs"]["content"]
    assert len(tokens) == answer["usage"]["completion_tokens"]
    assert "".join(token["token"] for token in tokens) == THOUGHTS + "The answer is 4."
    answer = chat(client, "both Rome", stream, logprobs=True)
    assert len(answer["choices"][0]["logprobs"]["content"]) == answer["usage"]["completion_tokens"]
    response = respond(client, "think", stream, tools=[], include=["message.output_text.logprobs"])
    text = items(response, "message")[0]["content"][0]
    assert "".join(token["token"] for token in text["logprobs"]) == text["text"]


def test_thoughts_leave_sealed(client) -> None:
    first = respond(client, "think", False, tools=[], include=["reasoning.encrypted_content"])
    reasoning = first["output"][0]
    assert reasoning["encrypted_content"]
    sent = [{"role": "user", "content": "think"}, {**reasoning, "content": [], "summary": []}, first["output"][1]]
    opened = respond(client, [*sent, {"role": "user", "content": "yes"}], False)
    plain = respond(
        client,
        [sent[0], {**reasoning, "encrypted_content": None}, *sent[2:], {"role": "user", "content": "yes"}],
        False,
    )
    assert opened["usage"] == plain["usage"]


@both_ways
def test_forced_calls_do_not_repeat_themselves(scripted_server, stream) -> None:
    with httpx.Client(base_url=scripted_server.url) as client:
        asked, fields = "script: calls=5 token_bytes=3\n", {"tool_choice": "required"}
        answer, response = chat(client, asked, stream, **fields), respond(client, asked, stream, **fields)
        assert [name for name, _ in called(answer)] == ["get_weather", "get_time"]
        assert (message(answer)["content"], answer["choices"][0]["finish_reason"]) == (None, "tool_calls")
        assert [item.get("name") for item in response["output"]] == ["get_weather", "get_time"]
        assert response["status"] == "completed"
        free = chat(client, asked, stream)
        assert len(called(free)) == 5


def test_what_the_scripted_engine_is_told(scripted_server) -> None:
    with httpx.Client(base_url=scripted_server.url) as client:
        answer = chat(client, "script: think=1 calls=2\na b", False)
        assert message(answer)["reasoning_content"] == message(answer)["content"] == "a b"
        assert [name for name, _ in called(answer)] == ["get_weather", "get_time"]
        kinds = [item["type"] for item in respond(client, "script: think=1 calls=1\na b", True)["output"]]
        assert kinds == ["reasoning", "message", "function_call"]
