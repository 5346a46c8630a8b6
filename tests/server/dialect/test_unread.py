"""What a system doesn't read of a request has no effect, and nothing about it is an error."""

from typing import Any

import pytest

from specvino.document.loading import dialect_file, load, whole
from specvino.document.validator import Validators
from specvino.generated.handlers import OPERATIONS
from specvino.handlers.errors import ApiError
from specvino.server.dialect import System
from specvino.server.dialect.unread import Unread
from specvino.server.validation.schema import SchemaCheck

USER = {"role": "user", "content": "Hi"}
CHAT, RESPONSES = "create_chat_completion", "create_response"


def read(name: str, operation: str = CHAT, **body: Any) -> Any:
    """A body as this server reads it, which is valid here, too."""
    requests = System(name, ("m",), {}).requests(OPERATIONS[operation])
    assert requests is not None
    least = {"input": "Hi"} if operation == RESPONSES else {"messages": [USER]}
    ours = requests.read({"model": "m", **least, **body})
    SchemaCheck.of_component(OPERATIONS[operation].body or "").require(ours)
    return ours


def test_entries_are_applied_in_order() -> None:
    entries: list[dict[str, Any]] = [
        {"field": "a", "if": {"properties": {"a": {"type": "string"}}}},
        {"field": "list[].b", "if": {"properties": {"b": {"const": 1}}}},
        {"field": "list[].b", "if": {"not": {"required": ["b"]}}, "instead": 2},
    ]
    unread = Unread(entries, Validators({}))
    assert unread.without({"a": "x", "list": [{"b": 1}, {"b": 3}, 5]}) == {"list": [{"b": 2}, {"b": 3}, 5]}
    assert unread.without({"a": 1, "list": "x"}) == {"a": 1, "list": "x"}
    assert unread.without([]) == []


@pytest.mark.parametrize(
    ("name", "operation", "field", "value"),
    [
        (
            "ovms",
            CHAT,
            "messages",
            [{**USER, "content": [{"type": "text", "text": "Hi", "prompt_cache_breakpoint": 5}]}],
        ),
        ("ovms", CHAT, "messages", [USER, {"role": "assistant", "content": "Hi", "refusal": 5, "audio": "x"}, USER]),
        ("ovms", RESPONSES, "input", [{**USER, "status": 5, "phase": {"x": 1}}]),
        ("ovms", RESPONSES, "input", [{"type": "function_call_output", "call_id": "c", "output": "4", "caller": 5}]),
        ("ovms", CHAT, "response_format", {"type": "json_schema", "json_schema": {"schema": {}, "strict": "x"}}),
    ],
)
def test_an_ignored_field_inside_of_an_object_is_not_validated(name, operation, field, value) -> None:
    assert read(name, operation, **{field: value})


@pytest.mark.parametrize("name", ["ovms", "vllm", "sglang", "mlc-llm", "fastdeploy", "llama-cpp", "ollama"])
def test_no_system_judges_fields_of_answers_that_it_lacks(name) -> None:
    document, ours = load(dialect_file(name)), whole()
    assert document["x-dialect"]["unknown_fields"] == "ignored"
    has, knows = (source["components"]["schemas"]["AssistantMessage"]["properties"] for source in (document, ours))
    answer = {"role": "assistant", "content": "Hello"}
    # By classes, which our documents have as rules.
    checked = {"sglang": {"prefix", "phase"}, "mlc-llm": {"name"}}.get(name, set())
    odd = {field: {"odd": [1]} for field in knows.keys() - has.keys() - checked}
    assert {"audio", "function_call", "refusal"} <= odd.keys()
    assert read(name, messages=[USER, {**answer, **odd}, USER])["messages"] == [USER, answer, USER]


def test_a_kind_that_only_this_server_requires_is_added() -> None:
    item = {"type": "reasoning", "id": "rs-0", "summary": [{"type": 5, "text": "Hm."}, {"text": "So."}]}
    summary = read("ovms", RESPONSES, input=[USER, item])["input"][1]["summary"]
    assert [part["type"] for part in summary] == ["summary_text", "summary_text"]


def test_free_objects_keep_all_their_members() -> None:
    kwargs = {"refusal": 5, "odd": {"audio": 1}}
    parameters = {"type": "object", "properties": {"refusal": {"type": "string"}}, "strict": 5}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    ours = read("ovms", chat_template_kwargs=kwargs, tools=[tool])
    assert (ours["chat_template_kwargs"], ours["tools"]) == (kwargs, [tool])


MESSAGES, COUNTED, TOKENIZED = "create_message", "count_message_tokens", "tokenize"


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("ollama", CHAT),
        ("llama-cpp", CHAT),
        ("vllm", CHAT),
        ("vllm", TOKENIZED),
        ("vllm@0.29", TOKENIZED),
        ("ollama", MESSAGES),
        ("llama-cpp", MESSAGES),
        ("llama-cpp", COUNTED),
    ],
)
def test_a_message_of_another_role_is_read_as_a_user_s(name: str, operation: str) -> None:
    messages = [{"role": "assistant", "content": "hi"}, {"role": "critic", "content": "hi"}]
    more = {"max_tokens": 4} if operation == MESSAGES else {}
    read_as = read(name, operation, messages=messages, **more)["messages"]
    assert [message["role"] for message in read_as] == ["assistant", "user"]


@pytest.mark.parametrize("operation", [CHAT, MESSAGES])
def test_as_ollama_a_message_needs_no_role(operation: str) -> None:
    more = {"max_tokens": 4} if operation == MESSAGES else {}
    read_as = read("ollama", operation, messages=[{"content": "hi"}], **more)["messages"]
    assert read_as == [{"content": "hi", "role": "user"}]


def test_as_fastdeploy_tokens_need_an_empty_list_of_messages() -> None:
    """protocol.py: messages is required."""
    requests = System("fastdeploy", ("m",), {}).requests(OPERATIONS[CHAT])
    assert requests is not None
    assert requests.read({"messages": [], "prompt_token_ids": [1]})["prompt_token_ids"] == [1]
    with pytest.raises(ApiError, match="messages"):
        requests.read({"prompt_token_ids": [1]})


def test_as_sglang_messages_of_responses_have_parts_of_chat() -> None:
    url = "data:image/png;base64,iVBORw0K"
    parts = [
        {"type": "text", "text": "Hi"},
        {"type": "image_url", "image_url": url},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    (item,) = read("sglang", RESPONSES, input=[{"role": "user", "content": parts}])["input"]
    assert item["content"] == [
        {"type": "input_text", "text": "Hi"},
        {"type": "input_image", "image_url": url},
        {"type": "input_image", "image_url": {"url": url}},
    ]


@pytest.mark.parametrize(("name", "operation"), [("vllm", MESSAGES), ("vllm", COUNTED), ("sglang", CHAT)])
def test_other_roles_are_refused_where_the_system_refuses_them(name: str, operation: str) -> None:
    more = {"max_tokens": 4} if operation == MESSAGES else {}
    with pytest.raises(ApiError, match="role"):
        read(name, operation, messages=[{"role": "critic", "content": "hi"}], **more)


def test_what_ovms_does_not_read() -> None:
    assert "tools" not in read("ovms", tools="odd", tool_choice="none")
    assert "tools" not in read("ovms", RESPONSES, tools=[5], tool_choice="none")
    assert read("ovms", messages=[{**USER, "content": 5, "name": 5}])["messages"] == [{"role": "user"}]
    result = {"role": "tool", "content": "4"}
    assert read("ovms", messages=[USER, {**result, "tool_call_id": 5}])["messages"][1] == {**result, "tool_call_id": ""}
    assert "max_tokens" not in read("ovms", max_tokens=0, max_completion_tokens=5)
    assert "response_format" not in read("ovms", response_format={"type": "odd"})


TOOL = {"type": "function", "function": {"name": "f"}}


@pytest.mark.parametrize(
    ("tools", "choice", "kept"),
    [
        ([TOOL], "required", True),
        ([], "required", False),
        (None, {"type": "function", "name": "f"}, False),
        ([TOOL], {"type": "function", "function": {"name": "f"}}, True),
        ([TOOL], {"type": "function", "function": {"name": "g"}}, False),
        ([TOOL], {"type": "function", "name": "g"}, False),
        ([TOOL], "auto", True),
    ],
)
def test_a_choice_of_a_tool_that_is_not_there_means_no_tools(tools, choice, kept) -> None:
    ours = read("ovms", tools=tools, tool_choice=choice)
    assert ("tools" in ours, "tool_choice" in ours) == (kept, kept)
    assert "tool_choice" in read("vllm", tools=[TOOL], tool_choice="required")


def test_fastdeploy_has_no_messages_beside_tokens() -> None:
    ours = read("fastdeploy", messages=[], prompt_token_ids=[1])
    assert ours["messages"] == [{"role": "user", "content": ""}]
