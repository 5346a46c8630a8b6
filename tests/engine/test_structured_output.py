"""Constraints of requests, lowered for the pipeline."""

import json
from typing import Any

import pytest

from specvino.engine.errors import ConstraintError
from specvino.engine.request import JsonSchema, StructuralTag
from specvino.engine.structured_output import LONGEST, constraint_json, example, lower

UNIQUE = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}


def tag(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


@pytest.mark.parametrize(
    "constraint",
    [JsonSchema({"description": "x" * LONGEST}), StructuralTag(tag({"type": "const_string", "value": "x" * LONGEST}))],
)
def test_a_long_text_is_refused_before_it_is_sent(constraint: Any) -> None:
    with pytest.raises(ConstraintError, match="characters of JSON") as caught:
        constraint_json(constraint)
    assert caught.value.path == ()
    assert not caught.value.unsupported


def test_a_text_is_written_as_it_was_given() -> None:
    assert json.loads(constraint_json(JsonSchema({"b": 10**30, "a": "\ud800"}))) == {"b": 10**30, "a": "\ud800"}


def test_a_wrong_schema_is_the_engines_error() -> None:
    with pytest.raises(ConstraintError, match="not a valid JSON Schema") as caught:
        lower(StructuralTag(tag({"type": "json_schema", "json_schema": {"type": "x"}})))
    assert caught.value.path == ("format", "json_schema", "type")
    assert not caught.value.unsupported


@pytest.mark.parametrize(
    "constraint",
    [JsonSchema(UNIQUE, strict=True), StructuralTag(tag({"type": "json_schema", "json_schema": UNIQUE}), strict=True)],
)
def test_strict_refuses_what_is_not_enforced(constraint: Any) -> None:
    with pytest.raises(ConstraintError) as caught:
        lower(constraint)
    assert caught.value.unsupported
    assert caught.value.path[-1] == "uniqueItems"


def test_examples() -> None:
    assert example(JsonSchema({"const": 1})) == "1"
    assert example(StructuralTag(tag({"type": "const_string", "value": "hi"}))) == "hi"
