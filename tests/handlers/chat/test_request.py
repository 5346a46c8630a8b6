"""What the engine is asked, message by message."""

from specvino.engine.request import Message, ToolCall
from specvino.generated.models import CreateChatCompletionRequest
from specvino.handlers.chat.request import to_generation_request


def convert(*messages, **fields):
    body = CreateChatCompletionRequest.model_validate({"model": "m", "messages": list(messages), **fields})
    return to_generation_request(body, {})


def one(**message):
    return convert(message).prompts[0].messages[0]


def test_roles():
    for role in ("developer", "system", "user", "assistant", "tool"):
        assert one(role=role, content="x") == Message(role, "x")
    assert one(role="function", name="f", content="x") == Message("tool", "x", name="f")


def test_forms_of_content():
    assert one(role="user", content="a").content == "a"
    assert one(role="user", content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]).content == "a\nb"
    assert one(role="user", content=[]).content == ""
    assert one(role="user", content=None).content == ""
    assert one(role="user").content == ""


def test_tool_calls_and_their_results():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    bare = {"function": {"name": "g"}}
    assert one(role="assistant", content=None, tool_calls=[call, bare]) == Message(
        "assistant", "", tool_calls=(ToolCall("c1", "f", '{"a": 1}'), ToolCall("call_1", "g", "{}"))
    )
    assert one(role="tool", tool_call_id="c1", content="r") == Message("tool", "r", tool_call_id="c1")


def test_n():
    assert convert({"role": "user"}).n == 1
    assert convert({"role": "user"}, n=None).n == 1
    assert convert({"role": "user"}, n=3).n == 3
