"""Conditions that name what the document doesn't have."""

import pytest

from specvino.codegen.lint.conditions import conditions


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code": "invalid_mood"}, "the code 'invalid_mood' is not in errors.yaml"),
        ({"param": "sead"}, "no endpoint of it has the field 'sead'"),
        ({"message": "{limit} is wrong."}, "{limit} has no meaning"),
        ({"facts": {"mood": {"const": "bad"}}}, "the fact 'mood' is not defined"),
        ({"both": [{"functions": {}}, {"tool": {}}]}, "chat has none of the fields tool"),
        ({"both": [{"functions": {}, "function": {}}, {"tools": {}}]}, "no endpoint of it has a field function"),
        ({"schema": ["chat"]}, "the first field of a schema's rule needs a type"),
        ({"schema": ["chat"], "code": "invalid_type"}, "without facts, with the code invalid_value"),
    ],
)
def test_what_it_names_exists(spec, change, words) -> None:
    spec.conditions["conditions"]["functions_beside_tools"] |= change
    assert words in "\n".join(map(str, conditions(spec)))
