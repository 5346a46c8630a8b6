"""The conditions of openapi/conditions.yaml that schemas state."""

from pathlib import Path
from typing import Any

import pytest

from specvino.codegen.source import load
from specvino.document.loading import whole
from specvino.document.operations import by_endpoint
from specvino.handlers.errors import ApiError
from specvino.server.validation.schema import SchemaCheck

CONDITIONS = load(Path(__file__).parents[3] / "openapi" / "conditions.yaml")["conditions"]

MINIMAL: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "completions": {"model": "m", "prompt": "hi"},
    "responses": {"model": "m", "input": "hi"},
    "input_tokens": {"model": "m", "input": "hi"},
    "tokenize": {"model": "m", "text": "hi"},
}

# A body that meets each condition, the field at fault, and a change after which it doesn't.
MET: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "empty_completion": ({"max_tokens": 0}, "max_tokens", {"echo": True}),
    "stream_options_without_stream": ({"stream_options": {}}, "stream_options", {"stream": True}),
    "many_prompts": ({"prompt": ["a"] * 17, "n": 9}, "n", {"n": 8}),
    "many_token_prompts": ({"prompt_token_ids": [[1]] * 17, "n": 9}, "n", {"n": None}),
    "padding_without_length": ({"pad_to_max_length": True}, "max_length", {"max_length": 1}),
    "long_padding": ({"pad_to_max_length": True, "max_length": 8193}, "max_length", {"max_length": 8192}),
    "background_without_store": ({"background": True, "store": False}, "background", {"store": None}),
    "two_conversations": (
        {"conversation": "a", "previous_response_id": "b"},
        "conversation",
        {"previous_response_id": None},
    ),
    "open_message_and_new_turn": (
        {"continue_final_message": True, "add_generation_prompt": True},
        "continue_final_message",
        {"add_generation_prompt": False},
    ),
    "top_logprobs_without_logprobs": ({"top_logprobs": 1}, "top_logprobs", {"logprobs": True}),
    "two_draft_lengths": (
        {"assistant_confidence_threshold": 0.5, "num_assistant_tokens": 3},
        "assistant_confidence_threshold",
        {"num_assistant_tokens": None},
    ),
    "penalties_in_beam_search": ({"best_of": 2, "presence_penalty": 1}, "best_of", {"presence_penalty": 0}),
}


def test_every_condition_of_a_schema_is_met_here() -> None:
    assert MET.keys() == {name for name, condition in CONDITIONS.items() if "schema" in condition}


@pytest.mark.parametrize(
    ("name", "endpoint"),
    [(name, endpoint) for name, condition in CONDITIONS.items() for endpoint in condition.get("schema", ())],
)
def test_a_body_that_meets_a_condition_is_refused(name, endpoint) -> None:
    fields, param, change = MET[name]
    component = by_endpoint(whole())[endpoint].body_component
    assert component
    check = SchemaCheck.of_component(component)
    with pytest.raises(ApiError) as caught:
        check.require(MINIMAL[endpoint] | fields)
    error = caught.value
    assert (error.code, error.param, error.message) == ("invalid_value", param, CONDITIONS[name]["message"])
    check.require(MINIMAL[endpoint] | fields | change)
