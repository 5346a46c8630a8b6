"""Conditions that fit neither the vocabulary nor the document."""

import pytest


def test_the_shape(spec, only) -> None:
    spec.conditions["conditions"]["functions_beside_tools"]["neither"] = []
    only("conditions", "functions_beside_tools", "neither")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"code": "invalid_mood"}, "the code 'invalid_mood' is not in errors.yaml"),
        ({"message": "{limit} is wrong."}, "{limit} has no meaning"),
        ({"facts": {"mood": {"const": "bad"}}}, "the fact 'mood' is not defined"),
        ({"endpoints": ["chats"]}, "'chats' is not an endpoint with a body"),
        ({"endpoints": ["models"]}, "'models' is not an endpoint with a body"),
        ({"both": ["tool"]}, "the group 'tool' is not defined"),
        ({"both": [{"functions": {}}, {"tool": {}}]}, "chat has none of the fields tool"),
        ({"both": [{"functions": {}, "function": {}}, {"tools": {}}]}, "no endpoint of it has a field function"),
        ({"schema": ["chat"]}, "the first field of a schema's rule needs a type"),
        ({"schema": ["chat"], "code": "invalid_type"}, "without facts, with the code invalid_value"),
    ],
)
def test_what_it_names_exists(spec, change, words) -> None:
    from specvino.codegen.lint.conditions import conditions

    spec.conditions["conditions"]["functions_beside_tools"] |= change
    assert words in "\n".join(map(str, conditions(spec)))
