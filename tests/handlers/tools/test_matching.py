"""Calls without results and results without calls: reported, or refused."""

import pytest

from specvino.generated.handlers import RequestContext
from specvino.generated.models import CreateChatCompletionRequest
from specvino.handlers.chat.request import matched as matched_messages
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.request import matched, read
from specvino.handlers.tools import CallMatcher

REPORTS = RequestContext("req_1")
REFUSES = RequestContext("req_1", refuses_unmatched_calls=True)


def messages(*items):
    body = CreateChatCompletionRequest.model_validate({"model": "m", "messages": list(items)})
    return matched_messages(body.messages)


def assistant(*ids):
    function = {"name": "f", "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": function} for id in ids]}


def tool(id):
    return {"role": "tool", "tool_call_id": id, "content": "sunny"}


USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize(
    ("conversation", "unmatched"),
    [
        ([USER], ()),
        ([USER, assistant("a", "b"), tool("b"), tool("a"), USER], ()),
        ([USER, assistant("a"), tool("a"), assistant("a"), tool("a")], ()),
        ([USER, tool("a")], ("messages.1.tool_call_id",)),
        ([USER, assistant("a", "b"), tool("a")], ("messages.1.tool_calls.1.id",)),
        ([USER, assistant("a"), tool("a"), tool("a")], ("messages.3.tool_call_id",)),
        ([USER, tool("a"), assistant("a")], ("messages.1.tool_call_id", "messages.2.tool_calls.0.id")),
        ([USER, assistant()], ()),
    ],
)
def test_messages(conversation, unmatched) -> None:
    assert messages(*conversation).reported(REPORTS) == unmatched
    if not unmatched:
        assert messages(*conversation).reported(REFUSES) == ()
        return
    with pytest.raises(ApiError) as error:
        messages(*conversation).reported(REFUSES)
    assert (error.value.code, error.value.param) == ("invalid_value", unmatched[0])


CALL = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "a", "output": "sunny"}
CUSTOM = {"type": "custom_tool_call", "call_id": "c", "name": "f", "input": "x"}
CUSTOM_RESULT = {"type": "custom_tool_call_output", "call_id": "c", "output": "y"}


@pytest.mark.parametrize(
    ("earlier", "input", "unmatched"),
    [
        ([], "hi", ()),
        ([CALL], [RESULT], ()),
        ([], [CALL, CUSTOM, CUSTOM_RESULT, RESULT], ()),
        ([], [{**CALL, "call_id": None, "id": "a"}, RESULT], ()),
        ([], [RESULT], ("input.0.call_id",)),
        ([], [CALL], ("input.0.call_id",)),
        ([CALL], "and?", ("previous_response_id",)),
        ([CUSTOM], [RESULT], ("input.0.call_id", "previous_response_id")),
    ],
)
def test_items(earlier, input, unmatched) -> None:
    own = input if isinstance(input, str) else read(input)
    assert matched(read(earlier), own).reported(REPORTS) == unmatched


def test_the_message_names_the_id() -> None:
    matcher = CallMatcher()
    matcher.result("call_1", "input.0.call_id")
    with pytest.raises(
        ApiError, match=r"input.0.call_id is 'call_1', but there is no tool call with this id before it."
    ):
        matcher.reported(REFUSES)
