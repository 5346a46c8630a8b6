"""Every bound that can be missing."""

import pytest


@pytest.mark.parametrize(
    ("field", "bound", "words"),
    [
        ("user", "maxLength", "a string needs maxLength"),
        ("temperature", "minimum", "a number needs minimum"),
        ("n", "maximum", "a number needs maximum"),
        ("repetition_penalty", "minimum", "a number needs minimum"),
        ("messages", "maxItems", "an array needs maxItems"),
        ("metadata", "maxProperties", "a free-form map needs maxProperties"),
        ("metadata", "propertyNames", "a free-form map needs propertyNames"),
        ("user", "type", "accepts anything"),
    ],
)
def test_a_field_without_a_bound(request_fields, only, field, bound, words) -> None:
    del request_fields[field][bound]
    only("bounds", f"CreateChatCompletionRequest/properties/{field}", words)


def test_in_a_component_below(schemas, only) -> None:
    del schemas["TextPart"]["properties"]["text"]["maxLength"]
    only("bounds", "TextPart/properties/text")


def test_in_a_branch(schemas, only) -> None:
    del schemas["TextContent"]["anyOf"][1]["maxItems"]
    only("bounds", "TextContent/anyOf/1")


def test_in_the_values_of_a_map(schemas, only) -> None:
    del schemas["LogitBias"]["additionalProperties"]["maximum"]
    only("bounds", "LogitBias/additionalProperties")


def test_in_a_parameter(spec, only) -> None:
    del spec.document["paths"]["/models/{model}"]["parameters"][0]["schema"]["maxLength"]
    only("bounds", "GET /models/{model} parameter model")


def test_answers_need_none(spec, sound, schemas) -> None:
    del schemas["Usage"]["properties"]["total_tokens"]["minimum"]
    sound()


@pytest.mark.parametrize("pattern", ["^[a-z]{1,8}$", "^[*+|]$", r"^\+\d{3}$"])
def test_a_pattern_that_bounds(spec, sound, schemas, pattern) -> None:
    schemas["LogitBias"]["propertyNames"] = {"pattern": pattern}
    sound()


@pytest.mark.parametrize("pattern", ["^[a-z]+$", "[a-z]{1,8}", "^a{2,}$", "^a$|b", "^a*$"])
def test_a_pattern_that_does_not_bound(schemas, only, pattern) -> None:
    schemas["LogitBias"]["propertyNames"] = {"pattern": pattern}
    only("bounds", "LogitBias", "propertyNames")
