"""What a response repeats of its request may be null where the answer needn't have it."""

from typing import Any

import pytest

from specvino.conformance.dialect import Dialect

OPENAI = Dialect("openai")
FORMAT = {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}


def violations(**members: Any) -> list[str]:
    shape = OPENAI.validator({"$ref": "#/components/schemas/ResponseObject"})
    return [violation for violation in shape.violations(members) if "required propert" not in violation]


@pytest.mark.parametrize(
    "members",
    [
        {"text": {"format": {**FORMAT, "description": None}}},
        {"tools": [{"type": "function", "name": "f", "parameters": {}, "strict": True, "defer_loading": None}]},
        {"reasoning": {"mode": None}, "prompt_cache_options": None, "moderation": None},
    ],
    ids=["format", "tool", "settings"],
)
def test_null_stands_for_nothing(members: dict[str, Any]) -> None:
    assert not violations(**members)


@pytest.mark.parametrize(
    ("members", "violation"),
    [
        ({"text": {"format": {**FORMAT, "type": None}}}, "text.format"),
        ({"text": {"format": {**FORMAT, "description": 5}}}, "text.format.description"),
        ({"parallel_tool_calls": None}, "parallel_tool_calls"),
        ({"output": None}, "output"),
        ({"output": [{"type": "message", "role": None}]}, "output.0"),
    ],
    ids=["required", "of another type", "a required setting", "no echo", "within no echo"],
)
def test_other_nulls_are_wrong(members: dict[str, Any], violation: str) -> None:
    (message,) = violations(**members)
    assert message.startswith(violation)


def test_requests_are_judged_as_before() -> None:
    body = {"model": "m", "input": "a", "text": {"format": {**FORMAT, "description": None}}}
    assert OPENAI.accepts("responses", body) is False
