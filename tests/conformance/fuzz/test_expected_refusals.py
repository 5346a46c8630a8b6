"""Each refusal is believed where its condition holds, and only there."""

import pytest

from specvino.conformance.dialect import Dialect
from specvino.conformance.fuzz.expected_refusals import unknown_codes
from specvino.conformance.fuzz.refusals.justification import is_justified
from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.run import fuzz
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target
from specvino.document.loading import whole


class KnownServer(Server):
    """A server that serves `m` and counts a token for each word."""

    def __init__(self, can_tokenize=True, states_facts=True) -> None:
        tokenize = {"/tokenize": {"post": {"operationId": "tokenize", "x-endpoint": "tokenize"}}}
        document = {"/openapi.json": {"get": {"operationId": "get_openapi", "x-endpoint": "openapi"}}}
        paths = (tokenize if can_tokenize else {}) | (document if states_facts else {})
        super().__init__(Target("http://127.0.0.1:9"), {"paths": paths})

    def _ask(self, path, body=None):
        if path == "/openapi.json":
            return {"x-facts": {"context_length": 100, "last_token_id": 999, "calls_tools": False, "vision": False}}
        return {"tokens": body["text"].split()} if path == "/tokenize" else {"data": [{"id": "m"}, {"id": "org/m"}]}


def holds(code, body=None, param=None, server=None, **path_parameters):
    body = body or {}
    endpoint = "completions" if "prompt" in body else "responses" if "input" in body else "chat"
    if code == "invalid_value":
        param = next(name for name in ("prompt_token_ids", "input_ids", "prompt") if name in body)
    if code == "unsupported_tool":
        endpoint = "responses" if "mode" in (body.get("tool_choice") or {}) else "chat"
        param = "function_call" if "function_call" in body else "tool_choice"
        param += ".allowed_tools" * ("allowed_tools" in body.get("tool_choice", ()))
    refused = RefusedRequest(endpoint, path_parameters, body, code, param)
    return is_justified(refused, server or KnownServer())


def chat(*contents, **fields):
    return {"model": "m", "messages": [{"role": "user", "content": content} for content in contents], **fields}


def test_every_refusal_of_the_document_can_be_judged() -> None:
    assert unknown_codes(whole()) == set()


def test_generated_requests_store_too_little_to_be_too_large() -> None:
    assert not holds("stored_items_too_large", {"input": "a", "previous_response_id": "resp_1"})


def test_a_refusal_that_nobody_can_judge_is_the_harness_s_error() -> None:
    dialect = Dialect("specvino")
    dialect.document = {
        "paths": {"/a": {"get": {"operationId": "a", "x-refusals": [{"code": "bad_mood", "when": "always"}]}}}
    }
    with pytest.raises(ValueError, match="bad_mood"):
        fuzz(Target("http://127.0.0.1:9"), dialect, max_examples=1, seed=1)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("model_not_found", {"model": "gpt-9"}),
        ("context_length_exceeded", chat("hi", max_tokens=101)),
        ("context_length_exceeded", chat("hi", max_tokens=1, max_completion_tokens=101)),
        ("context_length_exceeded", chat("word " * 50, "word " * 47, max_tokens=5)),
        ("context_length_exceeded", chat(*[""] * 50)),
        ("context_length_exceeded", {"prompt": ["a", "word " * 100]}),
        ("context_length_exceeded", {"prompt": [7] * 100}),
        ("context_length_exceeded", {"input": "hi", "instructions": "word " * 100}),
        ("context_length_exceeded", chat([{"type": "text", "text": "word " * 100}])),
        ("empty_prompt", {"prompt": ""}),
        ("empty_prompt", {"prompt": []}),
        ("empty_prompt", {"prompt": ["a", " "]}),
        ("empty_prompt", {"prompt": [[1], []]}),
        ("empty_prompt", {"input": [{"type": "additional_tools", "tools": []}]}),
        ("invalid_value", {"prompt": [[1], [5, 1000]]}),
        ("invalid_value", {"prompt": [5.0, 1000.0]}),
        ("invalid_value", {"prompt": "a", "prompt_token_ids": [[1], [5, 1000]]}),
        ("invalid_value", chat("a", input_ids=[1000])),
        ("empty_prompt", chat(" ", disable_chat_template=True)),
        (
            "chat_template_error",
            chat("a", continue_final_message=True),
        ),
        ("invalid_prompt", chat("a", "script: nonsense")),
        ("insufficient_memory", chat("a", logprobs=True, top_logprobs=2)),
        ("insufficient_memory", {"prompt": "a", "logprobs": 2}),
        ("insufficient_memory", chat("a", logit_bias={"5": 1})),
        ("previous_response_not_found", {"previous_response_id": "resp_1"}),
        ("unsupported_tool", {"tool_choice": "required"}),
        ("unsupported_tool", {"tool_choice": {"type": "function", "name": "f"}}),
        ("unsupported_tool", {"tool_choice": {"type": "allowed_tools", "mode": "required"}}),
        ("unsupported_tool", {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "required"}}}),
        ("unsupported_tool", {"tool_choice": "auto", "function_call": {"name": "f"}}),
    ],
)
def test_a_true_refusal(code, body) -> None:
    assert holds(code, body)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("model_not_found", {"model": "org/m"}),
        ("context_length_exceeded", chat("hi", max_tokens=98)),
        ("context_length_exceeded", chat("word " * 90)),
        ("context_length_exceeded", {"prompt": ["word " * 60, "word " * 60]}),
        ("context_length_exceeded", {"prompt": [7] * 99}),
        ("empty_prompt", {"prompt": "a"}),
        ("empty_prompt", {"input": [{"type": "item_reference", "id": "a"}, {"type": "reasoning"}]}),
        ("empty_prompt", {"input": [{"role": "user", "content": ""}]}),
        ("empty_prompt", {"input": "a"}),
        ("empty_prompt", chat("")),
        ("empty_prompt", chat("a", disable_chat_template=True)),
        ("invalid_value", chat("a", input_ids=[999])),
        ("chat_template_error", chat("a")),
        ("invalid_value", {"prompt": [[1], [5, 999]]}),
        ("invalid_prompt", chat("script: nonsense", "a")),
        ("insufficient_memory", chat("a", logprobs=True, min_tokens=1)),
        ("insufficient_memory", chat("word " * 2000)),
        ("previous_response_not_found", {"previous_response_id": None}),
        ("unsupported_tool", {"tool_choice": "auto"}),
        ("unsupported_tool", {"tool_choice": {"type": "allowed_tools", "mode": "auto"}}),
    ],
)
def test_a_false_refusal(code, body) -> None:
    assert not holds(code, body)


def test_names_in_paths() -> None:
    assert holds("model_not_found", model="gpt-9")
    assert not holds("model_not_found", model="org/m")
    assert holds("response_not_found", response_id="resp_1")


@pytest.mark.parametrize("param", ["messages.0.content.1", "messages.0.content.1.type"])
def test_content_is_unsupported_where_the_error_says_so(param) -> None:
    body = chat([{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "data:,"}}])
    assert holds("unsupported_content", body, param=param)
    assert not holds("unsupported_content", body, param="messages.0.content.0")
    assert not holds("unsupported_content", body, param="messages.7.content.0")
    assert not holds("unsupported_content", body)


@pytest.mark.parametrize(
    ("code", "param", "vision", "raw", "is_true"),
    [
        ("unsupported_content", "images.0", False, False, True),
        ("unsupported_content", "images.0", True, False, False),
        ("unsupported_content", "images.0", True, True, True),
        ("unsupported_content", "images.7", False, False, False),
        ("unsupported_content", "prompt", False, False, False),
        ("invalid_image", "images.0", True, False, True),
        ("invalid_image", "images.0", False, False, False),
    ],
)
def test_images_of_ollama_s_own_api(code, param, vision, raw, is_true) -> None:
    server = KnownServer()
    server.facts = {**server.facts, "vision": vision}
    body = {"prompt": "a", "images": ["AAAA"], "raw": raw}
    refused = RefusedRequest("ollama_generate", {}, body, code, param)
    assert is_justified(refused, server) is is_true


@pytest.mark.parametrize(
    ("format", "is_true"),
    [
        ({"type": "nothing"}, True),
        ({"type": "string", "minLength": 9, "maxLength": 1}, True),
        ({"type": "string"}, False),
    ],
)
def test_the_format_of_ollama_s_own_api_is_a_schema(format, is_true) -> None:
    body = {"messages": [], "format": format}
    assert is_justified(RefusedRequest("ollama_chat", {}, body, "invalid_schema", "format"), KnownServer()) is is_true


def test_ollama_s_system_text_is_a_turn() -> None:
    body = {"prompt": "word " * 60, "system": "word " * 60}
    assert is_justified(RefusedRequest("ollama_generate", {}, body, "chat_template_error", None), KnownServer())
    assert is_justified(RefusedRequest("ollama_generate", {}, body, "context_length_exceeded", None), KnownServer())
    raw = RefusedRequest("ollama_generate", {}, {**body, "raw": True}, "chat_template_error", None)
    assert not is_justified(raw, KnownServer())


def test_a_server_without_facts_isn_t_believed() -> None:
    server = KnownServer(states_facts=False)
    assert server.facts == {}
    assert not holds("context_length_exceeded", chat("hi", max_tokens=200), server=server)
    assert not holds("unsupported_tool", {"tool_choice": "required"}, server=server)


def test_without_a_tokenizer_only_turns_and_ids_count() -> None:
    server = KnownServer(can_tokenize=False)
    assert holds("context_length_exceeded", chat(*["a"] * 50), server=server)
    assert not holds("context_length_exceeded", chat("word " * 1000), server=server)
    assert not holds("empty_prompt", {"prompt": " "}, server=server)


def test_tools_and_calls_are_part_of_the_prompt() -> None:
    functions = [{"name": "f", "description": "word " * 50}, {"name": "g", "parameters": {"title": "word " * 50}}]
    assert holds("context_length_exceeded", chat("hi", functions=functions))
    assert not holds("context_length_exceeded", chat("hi", functions=functions[:1]))
    call = {"function": {"name": "f", "arguments": "word " * 100}}
    assert holds("context_length_exceeded", {"messages": [{"role": "assistant", "tool_calls": [call]}]})
    item = {"type": "function_call", "name": "f", "arguments": "word " * 100}
    assert holds("context_length_exceeded", {"input": [item]})
