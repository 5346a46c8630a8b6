"""The messages that the engine gets for the items of a chat request."""

import pytest

from specvino.engine.request import Message, ToolCall
from specvino.generated.models import CreateChatCompletionRequest
from specvino.handlers.chat.request import to_messages
from specvino.handlers.errors import ApiError
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource
from specvino.handlers.sampling import sampling


def body(*messages, **fields):
    return CreateChatCompletionRequest.model_validate({"model": "m", "messages": list(messages), **fields})


def one(**message):
    (draft,) = to_messages(body(message))
    assert draft.images == ()
    return draft.message


def test_roles() -> None:
    for role in ("developer", "system", "user", "assistant"):
        assert one(role=role, content="x") == Message(role, "x")
    assert one(role="function", name="f", content="x") == Message("tool", "x", name="f")


def test_forms_of_content() -> None:
    assert one(role="user", content="a").content == "a"
    assert one(role="user", content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]).content == "a\nb"
    assert one(role="user", content=[]).content == ""
    assert one(role="user", content=None).content == ""
    assert one(role="user").content == ""


def test_tool_calls_and_their_results() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    bare = {"function": {"name": "g"}}
    assert one(role="assistant", content=None, tool_calls=[call, bare]) == Message(
        "assistant", "", tool_calls=(ToolCall("c1", "f", '{"a": 1}'), ToolCall("call_1", "g", "{}"))
    )
    assert one(role="tool", tool_call_id="c1", content="r") == Message("tool", "r", tool_call_id="c1")


def test_an_earlier_legacy_function_call() -> None:
    call = ToolCall("call_0", "f", "{}")
    assert one(role="assistant", function_call={"name": "f", "arguments": "{}"}).tool_calls == (call,)
    assert one(role="assistant", function_call=None).tool_calls == ()


def test_calls_of_custom_tools() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "x", "input": "y"}}
    called = ToolCall("c", "x", '{"input": "y"}')
    assert one(role="assistant", tool_calls=[custom]) == Message("assistant", "", tool_calls=(called,))


def test_reasoning_and_refusals_of_earlier_answers() -> None:
    for reasoning in ({"reasoning_content": "hm"}, {"reasoning": "hm"}, {"reasoning_content": "hm", "reasoning": "no"}):
        assert one(role="assistant", content="a", **reasoning) == Message("assistant", "a", reasoning="hm")
    assert one(role="assistant", content=[{"type": "refusal", "refusal": "no"}]) == Message("assistant", "no")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": "data:,"}},
        {"type": "image_url", "image_url": "data:,"},
        {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f"}},
    ],
)
def test_what_the_model_can_t_read_is_refused(part) -> None:
    with pytest.raises(ApiError) as error:
        list(to_messages(body({"role": "system"}, {"role": "user", "content": [{"type": "text", "text": "a"}, part]})))
    assert (error.value.code, error.value.param) == ("unsupported_content", "messages.1.content.1")
    assert part["type"] in error.value.message


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_audio", "input_audio": {"data": "x", "format": "wav"}},
        {"type": "file", "file": {"file_id": "f"}},
    ],
)
def test_what_a_multimodal_model_can_t_read_is_refused(part) -> None:
    with pytest.raises(ApiError) as error:
        list(to_messages(body({"role": "user", "content": [part]}), vision=True))
    assert (error.value.code, error.value.param) == ("unsupported_content", "messages.0.content.0")


def test_max_completion_tokens_wins() -> None:
    assert sampling(body({"role": "user"}, max_tokens=5, max_completion_tokens=7), {}).max_tokens == 7
    assert sampling(body({"role": "user"}, max_tokens=5, max_completion_tokens=None), {}).max_tokens == 5


def test_images_and_their_places() -> None:
    parts = [
        {"type": "image_url", "image_url": "data:,a"},
        {"type": "text", "text": "what?"},
        {"type": "image_url", "image_url": {"url": "data:,b", "detail": "low"}},
    ]
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": parts}]
    first = PlacedSource(0, ImageSource("messages.1.content.0", "data:,a", None))
    second = PlacedSource(7, ImageSource("messages.1.content.2", "data:,b", "low"))
    assert list(to_messages(body(*messages), vision=True)) == [
        MessageDraft(Message("system", "s")),
        MessageDraft(Message("user", "\nwhat?\n"), (first, second)),
    ]
