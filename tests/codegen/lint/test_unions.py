"""What makes the branch of a union certain."""

import pytest

from specvino.codegen.lint import lint

BRANCH = "#/components/schemas/ToolMessage"


@pytest.fixture
def message(schemas):
    return schemas["Message"]


def test_no_discriminator(message, only) -> None:
    del message["discriminator"]
    only("union", "Message", "oneOf needs a discriminator", "anyOf")


def test_an_incomplete_mapping(message, only) -> None:
    del message["discriminator"]["mapping"]["tool"]
    only("union", "Message", f"no value for {BRANCH}")


def test_a_mapping_to_no_branch(message, only) -> None:
    message["discriminator"]["mapping"]["robot"] = "#/components/schemas/TextPart"
    only("union", "Message", "the mapping's robot is not a branch")


def test_a_property_that_is_not_required(schemas, only) -> None:
    schemas["ToolMessage"]["required"] = []
    only("union", BRANCH, "role must be required")


def test_another_const(spec, schemas) -> None:
    schemas["ToolMessage"]["properties"]["role"]["const"] = "user"
    problems = [str(problem) for problem in lint(spec) if problem.rule == "union"]
    assert len(problems) == 1
    assert "role must be the const 'tool', but is 'user'" in problems[0]


def test_a_branch_twice(spec, message) -> None:
    message["oneOf"].append({"$ref": BRANCH})
    lines = [str(problem) for problem in lint(spec)]
    assert any("a branch is listed twice" in line for line in lines)
    assert any("more than one of the schemas" in line for line in lines), "an example that is in two branches"


def test_a_branch_without_a_name(message, only) -> None:
    message["oneOf"].append({"type": "null"})
    only("union", "Message", "references to named components")


def test_a_discriminator_alone(schemas, only) -> None:
    schemas["ChatCompletionStreamEvent"]["discriminator"] = {"propertyName": "object"}
    only("union", "ChatCompletionStreamEvent", "a discriminator is only allowed next to oneOf")
