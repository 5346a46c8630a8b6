"""Refusals that name a field are believed where the field is at fault."""

from typing import Any

import pytest

from specvino.conformance.fuzz.consistent_requests import IMAGE, consistent
from specvino.conformance.fuzz.refusals.conditions import REFUSALS
from specvino.conformance.fuzz.refusals.refused import Refused
from specvino.conformance.fuzz.server import Server
from specvino.conformance.http.client import Target

PIXELS = IMAGE.partition(",")[2]
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "array"}, "strict": True}}
NAMED = {"type": "function", "function": {"name": "f"}}
BEAMS = {"best_of": 3}


class StoringServer(Server):
    """Keeps `done` and `made`, which continues what was deleted."""

    def __init__(self) -> None:
        paths: dict[str, Any] = {"/responses/{response_id}": {}, "/responses/{response_id}/input_items": {}}
        super().__init__(Target("http://127.0.0.1:9"), {"paths": paths})

    def response(self, id):
        kept = {
            "done": {"background": False, "previous_response_id": None},
            "made": {"background": True, "previous_response_id": "deleted"},
        }
        return kept.get(id)

    def input_items(self, id):
        return {"msg_1"}


def schema(schema, strict=False):
    named = {"name": "a", "schema": schema, "strict": strict}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def image(url):
    return {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]}


TOKENIZER = "The messages become about 9000 tokens; this model's tokenizer takes less than 8192."
NO_TOKEN = "allowed_token_ids is wrong: the model has no token 1000: its token ids are 0 to 999."
SCHEMA = "response_format.json_schema.schema"
PART = "input.0.content.0"
TOOL = "tools.0.function.parameters"


@pytest.mark.parametrize(
    ("code", "param", "body", "message"),
    [
        ("integer_above_max_value", "best_of", {"best_of": 21}, "best_of is 21, but this server's limit is 20."),
        ("invalid_value", "n", {"n": 3, "best_of": 2}, ""),
        ("invalid_value", "allowed_token_ids", {"allowed_token_ids": [3, 1000]}, NO_TOKEN),
        ("invalid_value", "best_of", BEAMS | {"presence_penalty": 1}, ""),
        ("invalid_value", "best_of", BEAMS | schema({}), ""),
        ("invalid_value", "ignore_eos", {"ignore_eos": True, "tool_choice": "required"}, ""),
        ("invalid_value", "functions", {"functions": [{"name": "f"}], "tools": [FUNCTION]}, ""),
        ("invalid_value", "chat_template_kwargs.tools", {"chat_template_kwargs": {"tools": None}}, ""),
        (
            "invalid_value",
            "response_format",
            {"response_format": {"type": "json_object"}, "text": {"format": {"type": "json_object"}}},
            "",
        ),
        (
            "invalid_type",
            "chat_template_kwargs.add_generation_prompt",
            {"chat_template_kwargs": {"add_generation_prompt": 1}},
            "",
        ),
        ("unsupported_parameter", "max_ngram_size", {"max_ngram_size": 3}, ""),
        ("unsupported_parameter", "background", {"background": True}, ""),
        ("unsupported_parameter", "best_of", BEAMS, ""),
        ("unsupported_parameter", "min_tokens", {"min_tokens": 1}, ""),
        ("invalid_value", "min_tokens", {"min_tokens": 3, "max_tokens": 2}, ""),
        ("invalid_value", "min_tokens", {"min_tokens": 1, "response_format": {"type": "json_object"}}, ""),
        ("invalid_schema", SCHEMA, schema({"type": 7}), ""),
        ("invalid_schema", SCHEMA, schema({"type": "string", "enum": [1]}), ""),
        ("invalid_schema", "response_format", {"response_format": {"type": "regex", "pattern": "("}}, ""),
        ("invalid_schema", "guided_json", {"guided_json": "no JSON"}, ""),
        ("invalid_schema", "structured_outputs.json", {"structured_outputs": {"json": "7"}}, ""),
        ("invalid_schema", "structured_outputs.grammar", {"structured_outputs": {"grammar": "0"}}, ""),
        ("invalid_schema", f"{TOOL}.type", {"tools": [FUNCTION], "tool_choice": "required"}, ""),
        ("unsupported_schema", f"{SCHEMA}.not", schema({"not": {}}, strict=True), ""),
        ("unknown_tool", "tool_choice", {"tool_choice": "required"}, ""),
        ("unknown_tool", "tool_choice.function.name", {"tool_choice": NAMED, "tools": []}, ""),
        ("unsupported_tool", "tool_choice", {"tool_choice": {"type": "custom", "custom": {"name": "f"}}}, ""),
        ("unsupported_tool", "tool_choice", {"tool_choice": "required", "tools": [{"type": "web_search"}]}, ""),
        ("unsupported_tool", "tool_choice", {"tool_choice": "required", "tools": [FUNCTION]}, ""),
        ("invalid_image", PART, image("data:image/png;base64,AAAA"), ""),
        ("invalid_image", PART, image("data:image/png,AAAA"), ""),
        ("invalid_image", PART, image(IMAGE[:-60]), ""),
        ("invalid_image_url", PART, image("https://example.com/a.png"), ""),
        ("failed_to_download_image", PART, image("https://example.com/a.png"), ""),
        ("response_not_found", "previous_response_id", {"previous_response_id": "deleted"}, ""),
        ("response_not_found", "previous_response_id", {"previous_response_id": "made"}, ""),
        ("response_not_finished", "previous_response_id", {"previous_response_id": "made"}, ""),
        ("store_unavailable", None, {"background": True}, ""),
        (
            "invalid_encrypted_content",
            "input.0.encrypted_content",
            {"input": [{"type": "reasoning", "encrypted_content": "a"}]},
            "",
        ),
        ("invalid_prompt", "prompt", {"prompt": [1]}, "This model sees images, and takes no token ids."),
        ("invalid_prompt", "messages", {"messages": [{"role": "user", "content": "Hi"}] * 200}, TOKENIZER),
        (
            "invalid_prompt",
            "prompt",
            {"prompt": "a", "echo": True, "max_tokens": 0},
            "sees images: it can't repeat a prompt",
        ),
        (
            "invalid_prompt",
            "messages",
            {"messages": [{"role": "user"}]},
            "The model's chat template refuses these messages: no.",
        ),
    ],
)
def test_true(code, param, body, message) -> None:
    assert REFUSALS[code](Refused({}, body, code, message, param), StoringServer())


@pytest.mark.parametrize(
    ("code", "param", "body", "message"),
    [
        ("integer_above_max_value", "best_of", {"best_of": 20}, "best_of is 21, but this server's limit is 20."),
        ("integer_above_max_value", "n", {"n": 21}, "n is 21, but this server's limit is 20."),
        ("invalid_value", "n", {"n": 2, "best_of": 2}, ""),
        ("invalid_value", "allowed_token_ids", {"allowed_token_ids": [3, 999]}, NO_TOKEN),
        ("invalid_value", "bad_words_token_ids", {"bad_words_token_ids": [9]}, "The model has no such token."),
        ("invalid_value", "best_of", {"best_of": 1, "presence_penalty": 1}, ""),
        ("invalid_value", "best_of", BEAMS | {"response_format": {"type": "text"}}, ""),
        ("invalid_value", "ignore_eos", {"ignore_eos": True, "tool_choice": "auto"}, ""),
        ("invalid_value", "functions", {"functions": [{"name": "f"}], "tools": []}, ""),
        (
            "invalid_type",
            "chat_template_kwargs.add_generation_prompt",
            {"chat_template_kwargs": {"add_generation_prompt": True}},
            "",
        ),
        ("unsupported_parameter", "max_ngram_size", {"max_ngram_size": None}, ""),
        ("unsupported_parameter", "temperature", {"temperature": 1}, ""),
        ("unsupported_parameter", "best_of", {"best_of": 1}, ""),
        ("unsupported_parameter", "min_tokens", {"min_tokens": 0}, ""),
        ("invalid_value", "min_tokens", {"min_tokens": 2, "max_tokens": 2}, ""),
        ("invalid_schema", SCHEMA, schema({}), ""),
        ("invalid_schema", SCHEMA, schema({"type": "string", "enum": ["a"]}), ""),
        ("invalid_schema", "response_format", {"response_format": {"type": "json_object"}}, ""),
        ("invalid_schema", "guided_json", {"guided_json": '{"type": "integer"}'}, ""),
        ("invalid_schema", f"{TOOL}.type", {"tools": [FUNCTION], "tool_choice": "auto"}, ""),
        ("unsupported_schema", f"{SCHEMA}.not", schema({"not": {}}), ""),
        ("unsupported_schema", f"{SCHEMA}.type", schema({"type": "object"}, strict=True), ""),
        ("unknown_tool", "tool_choice", {"tool_choice": "required", "tools": [FUNCTION]}, ""),
        ("unknown_tool", "tool_choice.function.name", {"tool_choice": NAMED, "tools": [FUNCTION]}, ""),
        ("unsupported_tool", "tool_choice", {"tool_choice": "auto", "tools": [{"type": "web_search"}]}, ""),
        ("invalid_image", PART, image(IMAGE), ""),
        ("invalid_image", PART, image(f"base64,{PIXELS}"), ""),
        ("invalid_image", PART, image("https://example.com/a.png"), ""),
        ("invalid_image_url", PART, image(IMAGE), ""),
        ("failed_to_download_image", PART, image("file:///a.png"), ""),
        ("response_not_found", "previous_response_id", {"previous_response_id": "done"}, ""),
        ("response_not_finished", "previous_response_id", {"previous_response_id": "done"}, ""),
        ("store_unavailable", None, {"background": False}, ""),
        (
            "invalid_encrypted_content",
            "input.0.encrypted_content",
            {"input": [{"type": "reasoning", "encrypted_content": None}]},
            "",
        ),
        ("invalid_prompt", "prompt", {"prompt": "a"}, "This model sees images, and takes no token ids."),
        ("invalid_prompt", "messages", {"messages": [{"role": "user", "content": "Hi"}] * 100}, TOKENIZER),
        (
            "invalid_prompt",
            "messages",
            {"messages": [{"role": "user", "content": "a"}]},
            "The model's chat template refuses these messages: no.",
        ),
    ],
)
def test_false(code, param, body, message) -> None:
    assert not REFUSALS[code](Refused({}, body, code, message, param), StoringServer())


def test_an_item_is_looked_for() -> None:
    for after, expected in (("msg_2", True), ("msg_1", False)):
        refused = Refused({"response_id": "done"}, None, "item_not_found", "", "after", {"after": after})
        assert REFUSALS["item_not_found"](refused, StoringServer()) is expected


def test_only_what_was_made_in_the_background_is_cancelled() -> None:
    for id, expected in (("done", True), ("made", False), ("deleted", False)):
        refused = Refused({"response_id": id}, None, "response_not_cancellable", "", "response_id")
        assert REFUSALS["response_not_cancellable"](refused, StoringServer()) is expected


@pytest.mark.parametrize(
    ("code", "param", "body", "other", "others"),
    [
        ("unsupported_content", PART, image(IMAGE), "invalid_image_url", image("https://example.com/a.png")),
        ("unsupported_parameter", "best_of", BEAMS, "unsupported_parameter", {"num_assistant_tokens": 1}),
    ],
)
def test_a_server_that_contradicts_itself_isn_t_believed(code, param, body, other, others) -> None:
    server = StoringServer()
    second = Refused({}, others, other, "", PART if "input" in others else "num_assistant_tokens")
    assert REFUSALS[other](second, StoringServer())
    assert REFUSALS[code](Refused({}, body, code, "", param), server)
    assert not REFUSALS[other](second, server)


def test_an_agreeable_request_has_nothing_that_excludes_anything() -> None:
    odd = {
        **BEAMS,
        **schema({}),
        "n": 2,
        "presence_penalty": 1,
        "ignore_eos": True,
        "max_ngram_size": 3,
        "tool_choice": NAMED,
        "text": {"format": {"type": "json_object"}},
        "chat_template_kwargs": {"tools": [], "add_generation_prompt": 1, "a": 1},
    } | image("https://example.com/a.png")
    changed = consistent(odd, images=True)
    assert changed == {
        "n": 2,
        "presence_penalty": 1,
        "text": odd["text"],
        "chat_template_kwargs": {"a": 1},
        **image({"url": IMAGE}),
    }
    text = {"type": "input_text", "text": "What is this?"}
    assert consistent(odd, images=False)["input"] == [{"role": "user", "content": [text]}]
    assert consistent(image(IMAGE), images=True) == image(IMAGE)
    assert consistent(BEAMS | {"presence_penalty": 1}, images=True) == BEAMS
    assert consistent({"n": 9, "best_of": 9}, images=True) == {"n": 9}
    several = {"guided_regex": "a", "guided_choice": ["a"], "response_format": {"type": "json_object"}}
    assert consistent(several, images=True) == {"guided_choice": ["a"]}
