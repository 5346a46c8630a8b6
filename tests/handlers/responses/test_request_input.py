"""Items -> turns."""

from typing import Any

import pytest

from specvino.engine.request import Message, ToolCall
from specvino.generated.models import CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource
from specvino.handlers.responses.request import request_fields, to_messages

CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"a": 1}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
SUMMARY = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "so"}]}


def turns(*items):
    body = CreateResponseRequest.model_validate({"model": "m", "input": list(items)})
    return [draft.message for draft in to_messages(body.input)]


def assistant(text):
    return {"role": "assistant", "content": text}


def user(text):
    return {"role": "user", "content": text}


def test_a_text_is_what_the_user_says() -> None:
    assert list(to_messages("hi")) == [MessageDraft(Message("user", "hi"))]


@pytest.mark.parametrize("role", ["user", "system", "developer", "assistant"])
def test_messages(role) -> None:
    assert turns({"role": role, "content": "x"}) == [Message(role, "x")]
    assert turns({"type": "message", "role": role, "content": "x"}) == [Message(role, "x")]


def test_parts_are_joined() -> None:
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]
    assert turns({"role": "user", "content": parts}) == [Message("user", "a\nb")]
    parts = [{"type": "output_text", "text": "a", "annotations": []}, {"type": "refusal", "refusal": "no"}]
    assert turns(assistant(parts)) == [Message("assistant", "a\nno")]


CALLED = ToolCall("c1", "f", '{"a": 1}')


@pytest.mark.parametrize(
    ("items", "messages"),
    [
        ([assistant("t"), CALL], [Message("assistant", "t", tool_calls=(CALLED,))]),
        ([CALL, assistant("t")], [Message("assistant", "t", tool_calls=(CALLED,))]),
        ([CALL, CALL], [Message("assistant", "", tool_calls=(CALLED, CALLED))]),
        ([THOUGHT, assistant("t")], [Message("assistant", "t", reasoning="hm")]),
        ([THOUGHT, SUMMARY, CALL], [Message("assistant", "", reasoning="hm\nso", tool_calls=(CALLED,))]),
        ([THOUGHT], [Message("assistant", "", reasoning="hm")]),
        ([assistant("t"), assistant("u")], [Message("assistant", "t"), Message("assistant", "u")]),
        ([assistant("t"), THOUGHT], [Message("assistant", "t"), Message("assistant", "", reasoning="hm")]),
        ([CALL, THOUGHT], [Message("assistant", "", tool_calls=(CALLED,)), Message("assistant", "", reasoning="hm")]),
    ],
)
def test_what_belongs_to_one_turn_of_the_assistant(items, messages) -> None:
    assert turns(*items) == messages
    assert turns(user("q"), *items, user("r")) == [Message("user", "q"), *messages, Message("user", "r")]


def test_results_of_functions() -> None:
    assert turns(CALL, OUTPUT) == [
        Message("assistant", "", tool_calls=(CALLED,)),
        Message("tool", "sunny", tool_call_id="c1"),
    ]
    parts = {**OUTPUT, "output": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]}
    assert turns(parts) == [Message("tool", "a\nb", tool_call_id="c1")]


def test_a_call_may_have_its_id_as_ovms_has_it() -> None:
    call = {"type": "function_call", "id": "fc_1", "name": "f", "arguments": "{}"}
    assert turns(call)[0].tool_calls == (ToolCall("fc_1", "f", "{}"),)


def test_calls_of_custom_tools_and_of_a_namespace() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c2", "name": "x", "input": 'a"b', "namespace": "n"}
    output = {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"}
    assert turns({**CALL, "namespace": "n"}, custom, output) == [
        Message(
            "assistant",
            "",
            tool_calls=(ToolCall("c1", "n__f", '{"a": 1}'), ToolCall("c2", "n__x", '{"input": "a\\"b"}')),
        ),
        Message("tool", "done", tool_call_id="c2"),
    ]


def test_tools_in_items() -> None:
    tools = [
        {"type": "function", "name": "f"},
        {"type": "namespace", "name": "n", "tools": [{"type": "custom", "name": "c"}]},
    ]
    items = [
        {"type": "additional_tools", "role": "developer", "tools": tools[:1]},
        {"type": "tool_search_call", "call_id": "c1", "arguments": {"q": "x"}, "execution": "client"},
        {"type": "tool_search_output", "call_id": "c1", "tools": tools},
    ]
    assert turns(*items) == [
        Message("assistant", "", tool_calls=(ToolCall("c1", "tool_search", '{"q": "x"}'),)),
        Message("tool", "f, n__c", tool_call_id="c1"),
    ]
    body = CreateResponseRequest.model_validate({"model": "m", "input": items})
    offered = [(tool.param, tool.function_name) for tool in request_fields(body, body.input).more_tools]
    assert offered == [("input.0.tools.0", "f"), ("input.2.tools.0", "f"), ("input.2.tools.1.tools.0", "n__c")]


@pytest.mark.parametrize(
    ("item", "param"),
    [
        ({"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}, "input.1.content.0"),
        ({"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}, "input.1.content.0"),
        ({"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "x"}}]}, "input.1.content.0"),
        ({**OUTPUT, "output": [{"type": "input_image", "file_id": "f"}]}, "input.1.output.0"),
    ],
)
def test_what_the_model_can_t_read_is_refused(item, param) -> None:
    with pytest.raises(ApiError) as error:
        turns(user("q"), item)
    assert (error.value.code, error.value.param) == ("unsupported_content", param)


def test_images_and_their_places() -> None:
    image = {"type": "input_image", "image_url": "data:,a", "detail": "low"}
    inner = {"type": "input_image", "image_url": {"url": "data:,b", "detail": "high"}, "detail": "low"}
    nowhere = [{"type": "input_image", "file_id": "f"}, {"type": "input_image", "image_url": None}]
    result = {**OUTPUT, "output": [{"type": "input_text", "text": "seen"}, inner]}
    body = CreateResponseRequest.model_validate(
        {"model": "m", "input": [user([image]), CALL, result, user("x"), user(nowhere)]}
    )
    [shown, _, output, _] = list(to_messages(body.input[:4], vision=True))
    first = PlacedSource(0, ImageSource("input.0.content.0", "data:,a", "low"))
    second = PlacedSource(5, ImageSource("input.2.output.1", "data:,b", "high"))
    assert shown == MessageDraft(Message("user", ""), (first,))
    assert output == MessageDraft(Message("tool", "seen\n", tool_call_id="c1"), (second,))
    with pytest.raises(ApiError) as error:
        list(to_messages(body.input, vision=True))
    assert (error.value.code, error.value.param) == ("unsupported_content", "input.4.content.0")


def test_images_of_an_earlier_answer_have_a_path_of_their_own() -> None:
    image = {"type": "input_image", "image_url": "data:,a"}
    body = CreateResponseRequest.model_validate({"model": "m", "input": [user([image])]})
    [draft] = to_messages(body.input, "previous_response_id", vision=True)
    [placed] = draft.images
    assert placed.source.param == "previous_response_id.0.content.0"
