"""Requests that a system judges in its own way, by its document."""

from typing import Any

import pytest

from specvino.document.loading import dialect_file, load
from specvino.document.operations import by_endpoint
from specvino.document.validator import Validators

# Values of other types than a text or a list with elements.
OF_NO_USE: tuple[Any, ...] = (None, 4, {}, [])

USER = {"role": "user", "content": "Hi"}


def says(endpoint, **fields):
    """A request with a message, or an item, that has these fields."""
    if endpoint == "chat":
        return {"model": "m", "messages": [USER, fields]}
    return {"model": "m", "input": [USER, fields]}


AUDIO = {"data": "UklGRg=="}


def audio(endpoint, sort):
    part = {"type": "input_audio", "input_audio": {**AUDIO, "format": sort}}
    return says(endpoint, role="user", content=[part])


def takes(endpoint, **properties):
    """A request with a tool whose arguments have these schemas."""
    schema = {"type": "object", "properties": properties}
    if endpoint == "messages":
        return {"model": "m", "max_tokens": 1, "messages": [USER], "tools": [{"name": "f", "input_schema": schema}]}
    if endpoint == "responses":
        return {"model": "m", "input": "Hi", "tools": [{"type": "function", "name": "f", "parameters": schema}]}
    return {"model": "m", "messages": [USER], "tools": [{"function": {"name": "f", "parameters": schema}}]}


def inside(**schema):
    """The schema of an argument that has a member with choices, one of which has a member with this schema."""
    return {"type": "object", "properties": {"b": {"anyOf": [{"type": "null"}, {"properties": {"c": schema}}]}}}


def asks(endpoint, block, role="user"):
    """A request of the Messages API, or one for its count of tokens, with this block."""
    body = {"model": "m", "messages": [{"role": role, "content": [block]}]}
    return body if endpoint == "count_tokens" else body | {"max_tokens": 1}


TEXT = {"type": "text", "text": "Hi"}
SEARCHED = {"type": "search_result", "source": "https://example.com", "title": "Hi", "content": [TEXT]}


def returned(source):
    """The result of a tool that is a document from this source."""
    return {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "document", "source": source}]}


@pytest.mark.parametrize(
    ("system", "endpoint", "body", "valid"),
    [
        # openai_api_protocol.py: check_message_validity
        ("mlc-llm", "chat", says("chat", **USER, tool_call_id="c"), False),
        ("mlc-llm", "chat", says("chat", **USER, tool_call_id=None), True),
        ("mlc-llm", "chat", says("chat", role="tool", content="4", tool_call_id="c"), True),
        ("mlc-llm", "chat", says("chat", role="assistant", content="4", tool_calls=[]), False),
        ("mlc-llm", "chat", says("chat", **USER, tool_calls=[]), False),
        ("mlc-llm", "chat", says("chat", **USER, name=5), False),
        ("mlc-llm", "chat", says("chat", role="tool", content="4", name=5), False),
        ("mlc-llm", "chat", says("chat", **USER, name=None), True),
        # common/chat.cpp: common_chat_msgs_parse_oaicompat
        ("llama-cpp", "chat", says("chat", role="tool", content="4", tool_call_id=None), False),
        ("llama-cpp", "chat", says("chat", role="tool", content="4", tool_call_id="c"), True),
        # server-chat.cpp, server-common.h: json_value
        ("llama-cpp", "responses", {"input": "Hi", "previous_response_id": "r"}, False),
        ("llama-cpp", "responses", {"input": "Hi", "previous_response_id": ""}, True),
        ("llama-cpp", "responses", {"input": "Hi", "previous_response_id": 5}, True),
        # server_chat_convert_anthropic_to_oai doesn't read the model
        *(
            ("llama-cpp", endpoint, asks(endpoint, TEXT) | {"model": model}, True)
            for endpoint in ("messages", "count_tokens")
            for model in (None, 5)
        ),
        # json_value there; common/chat.cpp requires the text of a block of the message itself
        *(
            ("llama-cpp", endpoint, asks(endpoint, block, role), valid)
            for endpoint in ("messages", "count_tokens")
            for role, block, valid in [
                ("user", {"type": "text"}, False),
                ("user", {"type": "text", "text": 5}, False),
                ("user", {"type": "tool_result"}, True),
                ("user", {"type": "tool_result", "tool_use_id": 5, "content": {}}, True),
                ("user", {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text"}]}, True),
                ("user", {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": 5}]}, True),
                ("user", {"type": "image", "source": {"type": "base64", "data": None, "media_type": 5}}, True),
                ("user", {"type": "image", "source": {"type": "url"}}, True),
                ("assistant", {"type": "thinking", "thinking": 5}, True),
                ("assistant", {"type": "thinking"}, True),
                ("assistant", {"type": "tool_use", "id": None, "name": 5}, True),
            ]
        ),
        *(
            ("llama-cpp", endpoint, asks(endpoint, TEXT) | fields, True)
            for endpoint in ("messages", "count_tokens")
            for fields in [
                {"system": 5},
                {"system": [{"type": "text", "text": 5}, {"type": "text"}]},
                {"tools": [{"name": 5, "description": [], "input_schema": {}}]},
            ]
        ),
        # server-schema.cpp
        ("llama-cpp", "chat", {"messages": [USER], "n_cmpl": 0}, False),
        (
            "llama-cpp",
            "chat",
            {"messages": [USER], "n_cmpl": 2, "sse_ping_interval": -1, "backend_sampling": True},
            True,
        ),
        ("llama-cpp", "chat", {"messages": [USER], "sse_ping_interval": -2}, False),
        ("llama-cpp", "completions", {"prompt": "Hi", "preserved_tokens": ["<t>"], "grammar_triggers": []}, True),
        ("llama-cpp", "completions", {"prompt": "Hi", "reasoning_budget_end_tag": 5}, False),
        # openai_responses.cpp: buildAudioEntry; audio_decoding_processor.cpp
        ("ovms", "responses", audio("responses", 5), True),
        ("ovms", "responses", audio("responses", "flac"), False),
        ("ovms", "chat", audio("chat", 5), True),
        ("ovms", "chat", audio("chat", "flac"), False),
        # openai/responses.go: the structs of items
        ("ollama", "responses", says("responses", type="reasoning", id=5), False),
        ("ollama", "responses", says("responses", type="reasoning", id=None), True),
        ("ollama", "responses", says("responses", type="reasoning", summary="Hm."), False),
        ("ollama", "responses", says("responses", type="reasoning", summary=None), True),
        ("ollama", "responses", says("responses", type="message", **USER, id=5, status=5), True),
        ("ollama", "responses", says("responses", type="web_search_call", id="w", action=5), False),
        ("ollama", "responses", says("responses", type="web_search_call", id="w", status=5), False),
        ("ollama", "responses", says("responses", type="web_search_call", id="w", action={}), True),
        # api/types.go: ToolProperty, at any depth
        *(
            ("ollama", endpoint, takes(endpoint, a=schema), valid)
            for endpoint in ("chat", "responses", "messages")
            for schema, valid in [
                ({"type": 5}, False),
                (inside(type=5), False),
                (inside(type=["string", 5]), False),
                (inside(type=["string", None], description=None, enum=[1, "a"], pattern=5), True),
                (inside(description=5), False),
                (inside(enum="a"), False),
                (inside(required=[5]), False),
                (inside(anyOf=[{"anyOf": [{"anyOf": {}}]}]), False),
                (inside(properties={"d": "text"}), False),
                (inside(properties={"d": None}, anyOf=[None]), True),
                (inside(items={"type": 5}), True),
            ]
        ),
        # The classes of TokenizeRequest, whose messages are those of chat
        *(
            (system, "tokenize", {"model": "m", "messages": [message]}, valid)
            for system in ("vllm", "vllm@0.29", "sglang")
            for message, valid in [
                (USER, True),
                ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}, True),
                ({"role": "user", "content": 5}, False),
                ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": 5}}]}, False),
                ({"role": "assistant", "tool_calls": [{"id": "c", "type": "function"}]}, False),
            ]
        ),
        ("sglang", "tokenize", {"messages": [{"role": "user"}]}, False),
        ("sglang", "tokenize", {"messages": [{"role": "assistant", "phase": "draft"}]}, False),
        ("sglang", "tokenize", {"messages": [{"role": "system", "content": "Hi", "prefix": 5}]}, False),
        # api/types.go: Tool, which is a function whatever its type
        ("ollama", "chat", {"model": "m", "messages": [USER], "tools": [{"type": "custom", "custom": {}}]}, True),
        ("ollama", "chat", {"model": "m", "messages": [USER], "tools": [{"type": "custom", "function": 5}]}, False),
        # anthropic/anthropic.go and openai/openai.go: the structs, also of what has no effect
        ("ollama", "messages", asks("messages", {**TEXT, "citations": [{"type": "t", "url": None}], "id": None}), True),
        ("ollama", "messages", asks("messages", {**TEXT, "citations": {"enabled": True}}), False),
        ("ollama", "messages", asks("messages", {**TEXT, "id": 5}), False),
        ("ollama", "messages", asks("messages", {"type": "tool_result", "tool_use_id": "c", "is_error": 5}), False),
        ("ollama", "messages", asks("messages", SEARCHED), False),
        (
            "ollama",
            "messages",
            asks("messages", {"type": "tool_result", "tool_use_id": "c", "content": [SEARCHED]}),
            True,
        ),
        # anthropic/anthropic.go: convertMessage, convertToolResultContent, FromMessagesRequest
        *(
            ("ollama", "messages", asks("messages", block), valid)
            for block, valid in [
                ({"type": "text"}, True),
                ({"type": "text", "text": None}, True),
                ({"type": "text", "text": 5}, False),
                ({"type": "tool_result", "content": "4"}, True),
                ({"type": "tool_result", "tool_use_id": None}, True),
                ({"type": "tool_result", "tool_use_id": 5}, False),
                *(({"type": "tool_result", "content": content}, True) for content in OF_NO_USE),
                ({"type": "tool_result", "content": [{"type": "image", "source": 5}]}, False),
                ({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text"}]}, True),
                ({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": 5}]}, True),
            ]
        ),
        *(
            (
                "ollama",
                "messages",
                asks("messages", block, "assistant"),
                valid,
            )
            for block, valid in [
                ({"type": "thinking"}, True),
                ({"type": "thinking", "thinking": None}, True),
                ({"type": "thinking", "thinking": 5}, False),
                ({"type": "tool_use", "id": "c", "name": "f"}, True),
                ({"type": "tool_use", "id": "c", "input": {}}, False),
                ({"type": "tool_use", "id": None, "name": "f", "input": {}}, False),
            ]
        ),
        (
            "ollama",
            "messages",
            asks("messages", TEXT) | {"system": [{"type": "text", "text": 5}, {"type": "text"}]},
            True,
        ),
        ("ollama", "messages", asks("messages", TEXT) | {"tools": [{"name": None}, {}]}, True),
        ("ollama", "messages", asks("messages", TEXT) | {"tools": [{"name": 5}]}, False),
        ("ollama", "messages", asks("messages", TEXT) | {"thinking": {"type": None}}, True),
        ("ollama", "messages", asks("messages", TEXT) | {"thinking": {}}, True),
        ("ollama", "messages", asks("messages", TEXT) | {"thinking": {"type": "auto"}}, True),
        ("ollama", "messages", asks("messages", TEXT) | {"output_config": {"effort": " XHigh"}}, True),
        ("ollama", "messages", asks("messages", TEXT) | {"output_config": {"effort": 5}}, False),
        ("ollama", "messages", asks("messages", TEXT) | {"messages": [{"role": "user", "content": None}]}, True),
        ("ollama", "messages", asks("messages", TEXT) | {"messages": [{"role": "user"}]}, False),
        *(("ollama", "messages", asks("messages", TEXT) | {"system": system}, True) for system in OF_NO_USE),
        ("ollama", "messages", asks("messages", TEXT) | {"tool_choice": {"type": "any", "name": None}}, True),
        ("ollama", "messages", asks("messages", TEXT) | {"tool_choice": "any"}, False),
        ("ollama", "messages", asks("messages", TEXT) | {"metadata": {"user_id": 5}}, False),
        ("ollama", "messages", asks("messages", TEXT) | {"thinking": {"type": "enabled", "budget_tokens": "5"}}, False),
        ("ollama", "chat", says("chat", **USER, tool_calls=5), False),
        (
            "ollama",
            "responses",
            {"model": "m", "input": "Hi", "tools": [{"type": "function", "name": "f", "tools": 5}]},
            False,
        ),
        # anthropic/protocol.py: AnthropicMessagesRequest has PDRoutingFields
        ("sglang", "messages", asks("messages", TEXT) | {"bootstrap_host": "h", "bootstrap_room": 7}, True),
        ("sglang", "messages", asks("messages", TEXT) | {"bootstrap_room": "7"}, False),
        # anthropic/protocol.py: AnthropicMessagesRequest
        ("vllm", "messages", asks("messages", TEXT) | {"cache_salt": "s", "vllm_xargs": {"a": [1, "b"]}}, True),
        ("vllm", "messages", asks("messages", TEXT) | {"cache_salt": ""}, False),
        ("vllm", "messages", asks("messages", TEXT) | {"vllm_xargs": {"a": {}}}, False),
        ("vllm", "messages", asks("messages", TEXT) | {"mm_payload": "all"}, False),
        ("vllm@0.29", "messages", asks("messages", TEXT) | {"cache_salt": ""}, False),
        (
            "vllm@0.29",
            "messages",
            asks("messages", TEXT) | {"mm_payload": "all", "thinking": {"type": "enabled"}},
            True,
        ),
        ("vllm@0.29", "chat", {"model": "m", "messages": [USER], "mm_payload": "all"}, True),
        # anthropic/protocol.py: AnthropicContentBlock, whose content may be a list of any objects
        *(
            (system, endpoint, asks(endpoint, returned(source)), True)
            for system in ("vllm", "vllm@0.29")
            for endpoint in ("messages", "count_tokens")
            for source in [
                {"type": "content", "content": [{"type": "text", "text": "Hi"}]},
                {"type": "text", "media_type": "text/plain", "data": "Hi"},
            ]
        ),
        # protocol.py: messages can be an empty list, unless prompt_token_ids is passed
        ("fastdeploy", "chat", {"messages": [], "prompt_token_ids": [1]}, True),
        ("fastdeploy", "chat", {"messages": [], "prompt_token_ids": []}, False),
        ("fastdeploy", "chat", {"messages": []}, False),
    ],
)
def test_what_a_system_accepts(system, endpoint, body, valid) -> None:
    document = load(dialect_file(system))
    assert Validators(document).of(by_endpoint(document)[endpoint].body or {}).fits(body) is valid


def test_vllm_always_writes_prompt_cache_options() -> None:
    """protocol.py: ResponsesResponse, which is written with its defaults."""
    schemas = load(dialect_file("vllm"))["components"]["schemas"]
    written = [
        schema for schema in schemas.values() if {"prompt_cache_options", "output"} <= {*schema.get("properties", ())}
    ]
    assert written
    assert all("prompt_cache_options" in schema["required"] for schema in written)
