"""Refusals that name a field are believed where the field is at fault."""

import base64
from functools import partial
from io import BytesIO
from typing import Any, ClassVar

import pytest
from PIL import Image

from specvino.conformance.fuzz.consistent_requests import IMAGE, consistent
from specvino.conformance.fuzz.refusals.justification import is_justified
from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.refusals.tools import matched
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target
from specvino.document.conditions import value_at
from specvino.document.loading import conditions_of

PIXELS = IMAGE.partition(",")[2]
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "array"}, "strict": True}}
NAMED = {"type": "function", "function": {"name": "f"}}
BEAMS = {"best_of": 3}


class StoringServer(Server):
    """Keeps `done` and `made`, which continues what was deleted, `inside` of a conversation and `behind` it, and the
    conversation `conv`; without any option, on a model that reads no image."""

    facts: ClassVar = {
        "max_tokens": None,
        "best_of": 20,
        "drafting": None,
        "full_logits": True,
        "last_token_id": 999,
        "trusts_chat_templates": False,
        "stores_responses": False,
        "thinking_budgets": False,
        "context_length": 100,
        "vision": True,
        "calls_tools": False,
        "drafted_tokens": None,
        "tokenizer_tokens": 8192,
        "tokenized_characters": 1 << 18,
        "images": 64,
        "image_bytes": 20_000_000,
        "image_pixels": 1 << 25,
        "image_ratio": 100,
    }

    def __init__(self) -> None:
        paths: dict[str, Any] = {"/responses/{response_id}": {}, "/responses/{response_id}/input_items": {}}
        super().__init__(Target("http://127.0.0.1:9"), {"paths": paths})

    def response(self, id):
        kept = {
            "done": {"background": False, "previous_response_id": None},
            "made": {"background": True, "previous_response_id": "deleted"},
            "inside": {"background": False, "previous_response_id": None, "conversation": {"id": "conv"}},
            "behind": {"background": False, "previous_response_id": "inside"},
        }
        return kept.get(id)

    def conversation(self, id):
        return {"id": id} if id == "conv" else None

    def new_conversation(self):
        return "conv"

    def conversation_items(self, id):
        return {"msg_1"} if id == "conv" else set()

    def input_items(self, id):
        return {"msg_1"}


def judged(code, param, body, server=None, **facts):
    """Whether a refusal of a chat or response request is true."""
    server = server or StoringServer()
    server.facts = server.facts | facts
    fields = body.keys()
    endpoint = "completions" if "prompt" in fields else "chat"
    endpoint = "responses" if {"input", "text", "background"} & fields and "prompt" not in fields else endpoint
    return is_justified(RefusedRequest(endpoint, {}, body, code, param), server)


def schema(schema, strict=False):
    named = {"name": "a", "schema": schema, "strict": strict}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def image(url):
    return {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]}


SCHEMA = "response_format.json_schema.schema"
PART = "input.0.content.0"
TOOL = "tools.0.function.parameters"


@pytest.mark.parametrize(
    ("code", "param", "body"),
    [
        ("invalid_value", "prompt", {"prompt": [[1000]], "input_ids": [[0.0]]}),
        ("invalid_value", "prompt", {"prompt": [[1000]], "input": "Hello"}),
        ("invalid_value", "input_ids", {"messages": [], "input_ids": [1000]}),
        ("integer_above_max_value", "best_of", {"best_of": 21}),
        ("invalid_value", "n", {"n": 3, "best_of": 2}),
        ("invalid_value", "allowed_token_ids", {"allowed_token_ids": [3, 1000]}),
        ("invalid_value", "best_of", BEAMS | {"presence_penalty": 1, "input": "hi"}),
        ("invalid_value", "best_of", BEAMS | schema({})),
        ("invalid_value", "ignore_eos", {"ignore_eos": True, "tool_choice": "required"}),
        ("invalid_value", "functions", {"functions": [{"name": "f"}], "tools": [FUNCTION]}),
        ("invalid_value", "chat_template_kwargs.tools", {"chat_template_kwargs": {"tools": None}}),
        (
            "invalid_value",
            "response_format",
            {"response_format": {"type": "json_object"}, "text": {"format": {"type": "json_object"}}},
        ),
        (
            "invalid_type",
            "chat_template_kwargs.add_generation_prompt",
            {"chat_template_kwargs": {"add_generation_prompt": 1}},
        ),
        ("unsupported_parameter", "max_ngram_size", {"max_ngram_size": 3}),
        ("unsupported_parameter", "background", {"background": True}),
        ("invalid_value", "min_tokens", {"min_tokens": 3, "max_tokens": 2}),
        ("invalid_value", "min_tokens", {"min_tokens": 1, "response_format": {"type": "json_object"}}),
        ("invalid_schema", SCHEMA, schema({"type": 7})),
        ("invalid_schema", SCHEMA, schema({"type": "string", "enum": [1]})),
        ("invalid_schema", "response_format", {"response_format": {"type": "regex", "pattern": "("}}),
        ("invalid_schema", "guided_json", {"guided_json": "no JSON"}),
        ("invalid_schema", "structured_outputs.json", {"structured_outputs": {"json": "7"}}),
        ("invalid_schema", "structured_outputs.grammar", {"structured_outputs": {"grammar": "0"}}),
        ("invalid_schema", f"{TOOL}.type", {"tools": [FUNCTION], "tool_choice": "required"}),
        ("unsupported_schema", f"{SCHEMA}.not", schema({"not": {}}, strict=True)),
        ("unknown_tool", "tool_choice", {"tool_choice": "required"}),
        ("unknown_tool", "tool_choice.function.name", {"tool_choice": NAMED, "tools": []}),
        ("unsupported_tool", "tool_choice", {"tool_choice": {"type": "custom", "custom": {"name": "f"}}}),
        ("unsupported_tool", "tool_choice", {"tool_choice": "required", "tools": [{"type": "web_search"}]}),
        ("unsupported_tool", "tool_choice", {"tool_choice": "required", "tools": [FUNCTION]}),
        ("invalid_image", PART, image("data:image/png;base64,AAAA")),
        ("invalid_image", PART, image("data:image/png,AAAA")),
        ("invalid_image", PART, image(IMAGE[:-60])),
        ("invalid_image_url", PART, image("https://example.com/a.png")),
        ("failed_to_download_image", PART, image("https://example.com/a.png")),
        ("previous_response_not_found", "previous_response_id", {"previous_response_id": "deleted"}),
        ("response_not_finished", "previous_response_id", {"previous_response_id": "made"}),
        ("response_in_conversation", "previous_response_id", {"input": "a", "previous_response_id": "inside"}),
        ("response_in_conversation", "previous_response_id", {"input": "a", "previous_response_id": "behind"}),
        ("conversation_not_found", "conversation", {"input": "a", "conversation": "no"}),
        ("conversation_not_found", "conversation", {"input": "a", "conversation": {"id": "no"}}),
        ("store_unavailable", None, {"background": True}),
        ("store_unavailable", None, {"input": "a", "conversation": "conv"}),
        (
            "invalid_encrypted_content",
            "input.0.encrypted_content",
            {"input": [{"type": "reasoning", "encrypted_content": "a"}]},
        ),
        ("unsupported_parameter", "prompt", {"prompt": [1]}),
        ("text_too_long", "messages", {"messages": [{"role": "user", "content": "Hi"}] * 200}),
        (
            "unsupported_parameter",
            "echo",
            {"prompt": "a", "echo": True, "max_tokens": 0},
        ),
        (
            "chat_template_error",
            "messages",
            {"messages": [{"role": "user"}]},
        ),
    ],
)
def test_true(code, param, body) -> None:
    assert judged(code, param, body)


@pytest.mark.parametrize(
    ("code", "param", "body"),
    [
        ("integer_above_max_value", "best_of", {"best_of": 20}),
        ("integer_above_max_value", "n", {"n": 21}),
        ("invalid_value", "n", {"n": 2, "best_of": 2}),
        ("invalid_value", "allowed_token_ids", {"allowed_token_ids": [3, 999]}),
        ("invalid_value", "bad_words_token_ids", {"bad_words_token_ids": [9]}),
        ("invalid_value", "best_of", {"best_of": 1, "presence_penalty": 1}),
        ("invalid_value", "best_of", BEAMS | {"response_format": {"type": "text"}}),
        ("invalid_value", "ignore_eos", {"ignore_eos": True, "tool_choice": "auto"}),
        ("invalid_value", "functions", {"functions": [{"name": "f"}], "tools": []}),
        (
            "invalid_type",
            "chat_template_kwargs.add_generation_prompt",
            {"chat_template_kwargs": {"add_generation_prompt": True}},
        ),
        ("unsupported_parameter", "max_ngram_size", {"max_ngram_size": None}),
        ("unsupported_parameter", "temperature", {"temperature": 1}),
        ("unsupported_parameter", "best_of", {"best_of": 1}),
        ("unsupported_parameter", "min_tokens", {"min_tokens": 0}),
        ("invalid_value", "min_tokens", {"min_tokens": 2, "max_tokens": 2}),
        ("invalid_schema", SCHEMA, schema({})),
        ("invalid_schema", SCHEMA, schema({"type": "string", "enum": ["a"]})),
        ("invalid_schema", "response_format", {"response_format": {"type": "json_object"}}),
        ("invalid_schema", "guided_json", {"guided_json": '{"type": "integer"}'}),
        ("invalid_schema", f"{TOOL}.type", {"tools": [FUNCTION], "tool_choice": "auto"}),
        ("unsupported_schema", f"{SCHEMA}.not", schema({"not": {}})),
        ("unsupported_schema", f"{SCHEMA}.type", schema({"type": "object"}, strict=True)),
        ("unknown_tool", "tool_choice", {"tool_choice": "required", "tools": [FUNCTION]}),
        ("unknown_tool", "tool_choice.function.name", {"tool_choice": NAMED, "tools": [FUNCTION]}),
        ("unsupported_tool", "tool_choice", {"tool_choice": "auto", "tools": [{"type": "web_search"}]}),
        ("invalid_image", PART, image(IMAGE)),
        ("invalid_image", PART, image(f"base64,{PIXELS}")),
        ("invalid_image", PART, image("https://example.com/a.png")),
        ("invalid_image_url", PART, image(IMAGE)),
        ("failed_to_download_image", PART, image("file:///a.png")),
        ("previous_response_not_found", "previous_response_id", {"previous_response_id": "done"}),
        ("previous_response_not_found", "previous_response_id", {"previous_response_id": "made"}),
        ("response_not_finished", "previous_response_id", {"previous_response_id": "done"}),
        ("response_in_conversation", "previous_response_id", {"input": "a", "previous_response_id": "done"}),
        ("response_in_conversation", "previous_response_id", {"input": "a", "previous_response_id": "made"}),
        ("conversation_not_found", "conversation", {"input": "a", "conversation": {"id": "conv"}}),
        ("store_unavailable", None, {"background": False}),
        (
            "invalid_encrypted_content",
            "input.0.encrypted_content",
            {"input": [{"type": "reasoning", "encrypted_content": None}]},
        ),
        ("unsupported_parameter", "prompt", {"prompt": "a"}),
        ("text_too_long", "messages", {"messages": [{"role": "user", "content": "Hi"}] * 100}),
        (
            "chat_template_error",
            "messages",
            {"messages": [{"role": "user", "content": "a"}]},
        ),
    ],
)
def test_false(code, param, body) -> None:
    assert not judged(code, param, body)


CALL = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"}
TEXT = {"type": "text", "text": "hello"}


def turn(role, *blocks):
    return {"role": role, "content": list(blocks)}


@pytest.mark.parametrize(
    ("messages", "fits", "param"),
    [
        ([turn("assistant", CALL), turn("user", RESULT)], True, "messages.0.content.0.id"),
        (
            [turn("assistant", CALL), {"role": "system", "content": "now"}, turn("user", RESULT)],
            True,
            "messages.2.content.0.tool_use_id",
        ),
        ([turn("assistant", CALL), turn("user", TEXT)], False, "messages.0.content.0.id"),
        ([turn("assistant", CALL)], False, "messages.0.content.0.id"),
        ([turn("user", RESULT)], False, "messages.0.content.0.tool_use_id"),
        ([turn("assistant", CALL), turn("user", RESULT, RESULT)], False, "messages.1.content.1.tool_use_id"),
        ([turn("assistant", CALL, CALL), turn("user", RESULT)], False, "messages.0.content.1.id"),
    ],
)
def test_calls_and_results_of_messages_match(messages, fits, param) -> None:
    """Where one has no counterpart, its refusal is true, and a text in its place mends the request."""
    refused = RefusedRequest("messages", {}, {"messages": messages}, "invalid_value", param)
    assert is_justified(refused, StoringServer()) is not fits
    mended = matched(messages)
    assert (mended == messages) is fits
    assert matched(mended) == mended
    elsewhere = RefusedRequest("messages", {}, {"messages": messages}, "invalid_value", "messages.0.content")
    assert not is_justified(elsewhere, StoringServer())


def test_an_item_is_looked_for() -> None:
    for after, expected in (("msg_2", True), ("msg_1", False)):
        refused = RefusedRequest(
            "response_input_items", {"response_id": "done"}, None, "item_not_found", "after", {"after": after}
        )
        assert is_justified(refused, StoringServer()) is expected


@pytest.mark.parametrize(
    ("endpoint", "parameters", "query", "code", "expected"),
    [
        ("conversation", {"conversation_id": "no"}, {}, "conversation_not_found", True),
        ("conversation", {"conversation_id": "conv"}, {}, "conversation_not_found", False),
        ("conversation_item", {"conversation_id": "conv", "item_id": "msg_2"}, {}, "item_not_found", True),
        ("conversation_item", {"conversation_id": "conv", "item_id": "msg_1"}, {}, "item_not_found", False),
        ("conversation_items", {"conversation_id": "conv"}, {"after": "msg_2"}, "item_not_found", True),
        ("conversation_items", {"conversation_id": "conv"}, {"after": "msg_1"}, "item_not_found", False),
        ("conversation_items", {"conversation_id": "conv"}, {}, "item_not_found", False),
        ("conversations", {}, {}, "not_found", False),
        ("conversations", {}, {}, "store_unavailable", True),
    ],
)
def test_conversations_and_their_items_are_looked_for(endpoint, parameters, query, code, expected) -> None:
    refused = RefusedRequest(endpoint, parameters, None, code, "", query)
    assert is_justified(refused, StoringServer()) is expected


def test_a_server_without_conversations_may_say_so() -> None:
    class Storeless(StoringServer):
        def new_conversation(self):
            return None

    for endpoint, expected in (("conversations", True), ("model", False)):
        assert is_justified(RefusedRequest(endpoint, {}, {}, "not_found", None), Storeless()) is expected


def test_only_what_was_made_in_the_background_is_cancelled() -> None:
    for id, expected in (("done", True), ("made", False), ("deleted", False)):
        refused = RefusedRequest(
            "response_cancel", {"response_id": id}, None, "response_not_cancellable", "response_id"
        )
        assert is_justified(refused, StoringServer()) is expected


@pytest.mark.parametrize("fact", ["images", "image_bytes", "image_pixels"])
def test_images_exceed_the_server_s_limits(fact) -> None:
    assert judged("invalid_image", PART, image(IMAGE), **{fact: 0})
    assert not judged("invalid_image", PART, image(IMAGE), **{fact: None})


def test_an_image_has_one_side_that_is_too_long_for_the_server() -> None:
    file = BytesIO()
    Image.new("1", (30, 10)).save(file, "PNG")
    wide = image(f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}")
    assert judged("invalid_image", PART, wide, image_ratio=2)
    assert not judged("invalid_image", PART, wide, image_ratio=3)


def test_the_server_s_lengths_of_texts() -> None:
    texts = {"messages": [{"role": "user", "content": "a" * 4000}]}
    assert judged("insufficient_memory", "messages", texts, drafting="draft_model", drafted_tokens=4000)
    assert not judged("insufficient_memory", "messages", texts, drafting="draft_model", drafted_tokens=5000)
    assert judged("text_too_long", "messages", texts, tokenizer_tokens=None, tokenized_characters=4000)
    assert judged("text_too_long", "messages", texts, tokenizer_tokens=4000)
    assert not judged("text_too_long", "messages", texts, tokenizer_tokens=None)


def test_what_depends_on_the_server() -> None:
    drafted = {"num_assistant_tokens": 1}
    assert judged("unsupported_parameter", "num_assistant_tokens", drafted)
    assert not judged("unsupported_parameter", "num_assistant_tokens", drafted, drafting="draft_model")
    assert judged("unsupported_parameter", "best_of", BEAMS, drafting="draft_model")
    assert not judged("unsupported_parameter", "best_of", BEAMS)
    assert judged("unsupported_content", PART, image(IMAGE), vision=False)
    assert not judged("unsupported_content", PART, image(IMAGE))
    assert judged("unsupported_tool", "tool_choice", {"tool_choice": "required", "tools": [FUNCTION]})
    assert not judged(
        "unsupported_tool", "tool_choice", {"tool_choice": "required", "tools": [FUNCTION]}, calls_tools=True
    )


DRAWS = [lambda bound: 0, lambda bound: bound - 1]


def agreed(body, draw, *, images=True, endpoint="responses"):
    return consistent(body, endpoint, {"drafting": None}, images=images, draw=draw)


@pytest.mark.parametrize("draw", DRAWS, ids=["field at fault", "other field"])
def test_an_agreeable_request_meets_no_condition(draw) -> None:
    odd = {
        **BEAMS,
        **schema({}),
        "n": 2,
        "presence_penalty": 1,
        "ignore_eos": True,
        "max_ngram_size": 3,
        "tool_choice": NAMED,
        "text": {"format": {"type": "json_object"}},
        "chat_template_kwargs": {"tools": [], "a": 1},
    } | image("https://example.com/a.png")
    changed = agreed(odd, draw)
    assert not list(conditions_of("responses").refusals(partial(value_at, changed), {"drafting": None}))
    assert not {"max_ngram_size", "tool_choice", "chat_template_kwargs"} & changed.keys()
    assert changed["n"] == 2
    assert changed["input"] == image({"url": IMAGE})["input"]


def test_either_of_two_fields_goes() -> None:
    penalized = BEAMS | {"presence_penalty": 1}
    assert [agreed(penalized, draw) for draw in DRAWS] == [{"presence_penalty": 1}, BEAMS]
    several = {"guided_regex": "a", "response_format": {"type": "json_object"}}
    assert [agreed(several, draw, endpoint="chat") for draw in DRAWS] == [
        {"guided_regex": "a"},
        {"response_format": {"type": "json_object"}},
    ]
    template = {"chat_template_kwargs": {"add_generation_prompt": 1}}
    assert agreed(template, DRAWS[1]) == {}
    assert template  # the body itself stays


def test_searches_are_narrow() -> None:
    assert agreed({"n": 9, "best_of": 9}, DRAWS[0]) == {"n": 9}
    assert agreed({"best_of": 9}, DRAWS[0]) == {"best_of": 4}


def test_images_stay_or_become_texts() -> None:
    text = {"type": "input_text", "text": "What is this?"}
    remote = image("https://example.com/a.png")
    assert agreed(remote, DRAWS[0], images=False)["input"] == [{"role": "user", "content": [text]}]
    assert agreed(image(IMAGE), DRAWS[0]) == image(IMAGE)


def test_a_conversation_has_an_input_or_continues_one() -> None:
    for endpoint in ("responses", "input_tokens", "compact"):
        for body in ({"model": "m", "input": []}, {"model": "m", "input": None}):
            assert agreed(body, DRAWS[0], endpoint=endpoint)["input"] == "Hello"
        continued = {"model": "m", "input": [], "previous_response_id": "done"}
        assert agreed(continued, DRAWS[0], endpoint=endpoint)["input"] == []


@pytest.mark.parametrize(
    ("endpoint", "body", "repaired"),
    [
        ("completions", {"model": "m", "prompt": [1000]}, {"model": "m", "prompt": "Hello"}),
        ("detokenize", {"model": "m", "tokens": [[1000]]}, {"model": "m", "tokens": [1]}),
        ("tokenize", {"model": "m", "content": [1000]}, {"model": "m", "text": "Hello"}),
        ("tokenize", {"model": "m", "content": [1000], "prompt": "a"}, {"model": "m", "prompt": "a"}),
    ],
)
def test_a_removed_prompt_is_replaced(endpoint, body, repaired) -> None:
    facts = {"last_token_id": 999}
    assert consistent(body, endpoint, facts, images=False, draw=lambda count: 0) == repaired
