"""Names of inline branches, and examples in more than one branch."""

import pytest

from specvino.codegen.lint import unions


@pytest.fixture
def stop(request_fields):
    return request_fields["stop"]["anyOf"]


@pytest.mark.parametrize("title", [None, "", "a text", "stop_text"])
def test_a_branch_without_a_name(stop, only, title) -> None:
    stop[0]["title"] = title or ""
    if title is None:
        del stop[0]["title"]
    only("branch", "CreateChatCompletionRequest/properties/stop/anyOf/0", repr(stop[0].get("title")), "must be a name")


def test_a_branch_without_a_name_in_the_elements_of_a_list(stop, only) -> None:
    stop[1]["items"] = {"anyOf": [{"type": "string", "minLength": 1, "maxLength": 8}]}
    only("branch", "stop/anyOf/1/items/anyOf/0")


def test_a_name_that_another_branch_has(stop, only) -> None:
    stop[1]["title"] = stop[0]["title"]
    only("branch", "stop/anyOf/1", f"the title {stop[0]['title']} is taken")


def test_a_name_that_a_component_has(stop, only) -> None:
    stop[0]["title"] = "Usage"
    only("branch", "stop/anyOf/0", "the title Usage is taken")


def test_the_same_branch_at_two_places(spec, sound, request_fields, stop) -> None:
    request_fields["user"]["anyOf"] = [dict(stop[0])]
    sound()


def test_what_needs_no_name(spec, sound, request_fields) -> None:
    request_fields["user"]["anyOf"] = [{"const": "a"}, {"type": "null"}]
    sound()


def test_conditions_need_none(spec, request_fields) -> None:
    request_fields["user"]["not"] = {"anyOf": [{"maxLength": 3}]}
    assert list(unions.titled(spec)) == []


@pytest.fixture
def loose(schemas):
    """A union of which a tool's message is in two branches: the second asks for nothing that the first has not."""
    message = schemas["Message"]
    message["anyOf"] = message.pop("oneOf")
    del message["discriminator"]
    schemas["UserMessage"]["properties"]["role"] |= {"enum": ["user", "tool"]}
    del schemas["UserMessage"]["properties"]["role"]["const"]


@pytest.mark.usefixtures("loose")
def test_an_example_in_two_branches(only) -> None:
    only(
        "overlap",
        "POST /chat/completions request application/json example history",
        "messages.2 is in more than one branch: UserMessage, ToolMessage",
    )


@pytest.mark.usefixtures("loose")
def test_through_a_union_in_a_union(schemas, only) -> None:
    inner = {"title": "Others", "description": "x", "anyOf": schemas["Message"]["anyOf"][3:]}
    schemas["Others"] = inner
    schemas["Message"]["anyOf"][3:] = [{"$ref": "#/components/schemas/Others"}]
    only("overlap", "messages.2 is in more than one branch: UserMessage, ToolMessage")


def test_in_the_event_of_a_stream(spec, schemas) -> None:
    schemas["ErrorResponse"]["required"] = []
    problems = list(unions.overlaps(spec))
    shown = schemas["ChatCompletionStreamEvent"]["examples"]
    chunks = [index for index, example in enumerate(shown) if "error" not in example]
    assert {problem.location for problem in problems} == {f"ChatCompletionStreamEvent example {i}" for i in chunks}
    assert "the value is in more than one branch: ChatCompletionChunk, ErrorResponse" in problems[0].fault


def test_lists_in_two_branches(only, stop) -> None:
    stop.append({"type": "array", "title": "Two", "maxItems": 2, "items": {"type": "string", "maxLength": 9}})
    only("overlap", "stop is in more than one branch: SeveralStops, Two")
