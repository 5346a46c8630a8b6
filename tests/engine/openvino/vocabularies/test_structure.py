"""Structured outputs, tool calling and reasoning on the vocabularies of large models.

Random weights write anything that they may: what has no bound they don't end.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from support.conversation import ask, reasons, text
from support.tools import calls, with_tools

from specvino.engine.request import Conversation, JsonSchema, Tool
from specvino.engine.segments import ReasoningDelta, Segment

Answered = Callable[..., list[Segment]]


def strict(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS = {
    "numbers": strict(a={"type": "integer", "minimum": -9, "maximum": 9}, b={"type": "boolean"}),
    "choices": strict(a={"enum": ["x y", "é", "你好 🎉", 'a"b\n']}, b={"const": " "}),
    "strings": strict(a={"type": "string", "minLength": 4, "maxLength": 8}, b={"type": "string", "maxLength": 2}),
    "lists": {
        "type": "array",
        "items": strict(n={"type": "string", "pattern": "^[a-z ]{1,6}$"}),
        "minItems": 2,
        "maxItems": 2,
    },
}
PLACE = Tool("get_place", "the", SCHEMAS["strings"])


@pytest.mark.parametrize("name", SCHEMAS)
def test_an_answer_fits_its_schema(answered: Answered, name: str) -> None:
    schema = SCHEMAS[name]
    for seed in range(2):
        request = ask("Hello", max_tokens=400, temperature=1, seed=seed)
        segments = answered(replace(request, constraint=JsonSchema(schema)))
        assert reasons(segments) == {0: "stop"}
        jsonschema_rs.validate(schema, json.loads(text(segments)))


def test_a_forced_call_is_whole(answered: Answered) -> None:
    for seed in range(2):
        request = with_tools("Hello", PLACE, must_call=True, parallel_calls=False, max_tokens=400)
        request = replace(request, sampling=replace(request.sampling, temperature=1, seed=seed))
        segments = answered(request)
        assert reasons(segments) == {0: "tool_calls"}
        [(name, arguments)] = calls(segments)
        assert name == PLACE.name
        jsonschema_rs.validate(SCHEMAS["strings"], json.loads(arguments))


def test_reasoning_before_a_forced_call(answered: Answered) -> None:
    """Random weights begin with thoughts or with the call; thoughts they don't end."""
    request = with_tools("Hello", PLACE, must_call=True, parallel_calls=False, max_tokens=200)
    [prompt] = request.prompts
    assert isinstance(prompt, Conversation)
    thinking = replace(request, prompts=(replace(prompt, variables='{"enable_thinking": true}'),))
    for seed, asked in enumerate([request, request, request, thinking]):
        segments = answered(replace(asked, sampling=replace(asked.sampling, temperature=1, seed=seed)), "qwen3")
        thoughts = "".join(segment.text for segment in segments if isinstance(segment, ReasoningDelta))
        assert text(segments) == ""
        assert reasons(segments) == {0: "length" if thoughts else "tool_calls"}
        assert len(calls(segments)) == (not thoughts)
        assert thoughts or asked is request
