"""Builders of structural tags."""

import pytest

from specvino.engine.grammar._structural_tags.builders import NO_ARGUMENTS, arguments_object, json_schema

NONE = {"type": "object", "properties": {}, "additionalProperties": False}


def test_a_tool_without_parameters_takes_an_object_without_members() -> None:
    assert NO_ARGUMENTS == NONE
    assert arguments_object(None) == json_schema(NONE)


@pytest.mark.parametrize("parameters", [{}, {"type": "object"}, {"properties": {}, "required": [], "title": "Now"}])
def test_to_name_no_properties_is_to_have_none(parameters: dict[str, object]) -> None:
    assert arguments_object(parameters) == json_schema(NONE)
