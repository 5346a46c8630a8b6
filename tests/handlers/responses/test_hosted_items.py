"""Items of the provider's own tools -> calls and results of functions."""

import json
from typing import Any

import pytest

from specvino.engine.request import ToolCall
from specvino.generated.models import InputHostedToolItem
from specvino.handlers.errors import ApiError
from specvino.handlers.media import ImageSource
from specvino.handlers.responses.hosted_items import HostedResult, hosted_exchange

RUN = {"type": "exec", "command": ["ls"], "env": {}}


def read(vision: bool = False, **item: Any) -> list[Any]:
    return [*hosted_exchange(InputHostedToolItem.model_validate(item), "input.0", vision=vision)]


def called(id: str, tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(id, tool, json.dumps(arguments, ensure_ascii=False))


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (
            {"type": "local_shell_call", "id": "l", "call_id": "c", "action": RUN},
            called("c", "local_shell", action=RUN),
        ),
        (
            {"type": "shell_call", "call_id": "c", "action": {"commands": ["é"]}},
            called("c", "shell", action={"commands": ["é"]}),
        ),
        (
            {"type": "apply_patch_call", "call_id": "c", "operation": {"path": "p"}},
            called("c", "apply_patch", operation={"path": "p"}),
        ),
        (
            {"type": "computer_call", "call_id": "c", "action": {"type": "click"}},
            called("c", "computer", action={"type": "click"}),
        ),
        (
            {"type": "program", "id": "p", "call_id": "c", "code": "1", "fingerprint": "f"},
            called("c", "program", code="1"),
        ),
        (
            {"type": "tool_search_call", "call_id": "c", "arguments": {"q": 1}, "execution": "client"},
            called("c", "tool_search", q=1),
        ),
        (
            {"type": "mcp_approval_request", "id": "a", "name": "n", "server_label": "s", "arguments": "{}"},
            called("a", "mcp_approval_request", name="n", server_label="s", arguments="{}"),
        ),
    ],
)
def test_calls(item: dict[str, Any], call: ToolCall) -> None:
    (read_call,) = read(**item, status="completed")
    assert (read_call.id, read_call.name) == (call.id, call.name)
    assert json.loads(read_call.arguments) == json.loads(call.arguments)


@pytest.mark.parametrize(
    ("item", "id", "text"),
    [
        ({"type": "local_shell_call_output", "id": "c", "output": "a"}, "c", "a"),
        ({"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "a"}]}, "c", '[{"stdout": "a"}]'),
        ({"type": "apply_patch_call_output", "call_id": "c", "status": "completed"}, "c", "completed"),
        (
            {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "no"},
            "c",
            '{"output": "no", "status": "failed"}',
        ),
        ({"type": "program_output", "call_id": "c", "result": "2", "status": "completed"}, "c", "2"),
        ({"type": "mcp_approval_response", "approval_request_id": "a", "approve": True}, "a", "true"),
    ],
)
def test_results(item: dict[str, Any], id: str, text: str) -> None:
    assert read(**item) == [HostedResult(id, (text,))]


@pytest.mark.parametrize(
    ("item", "name", "arguments", "text"),
    [
        (
            {"type": "mcp_call", "server_label": "s", "name": "n", "arguments": '{"a": 1}', "output": "o"},
            "s__n",
            {"a": 1},
            "o",
        ),
        ({"type": "mcp_call", "server_label": "s", "name": "n", "arguments": "{}", "error": "e"}, "s__n", {}, "e"),
        (
            {"type": "mcp_list_tools", "server_label": "s", "tools": [{"name": "t"}]},
            "mcp_list_tools",
            {"server_label": "s"},
            '[{"name": "t"}]',
        ),
        (
            {"type": "web_search_call", "action": {"query": "q"}, "status": "completed"},
            "web_search",
            {"action": {"query": "q"}},
            "completed",
        ),
        (
            {"type": "file_search_call", "queries": ["q"], "results": [{"text": "t"}]},
            "file_search",
            {"queries": ["q"]},
            '[{"text": "t"}]',
        ),
        (
            {"type": "code_interpreter_call", "code": "1", "outputs": [{"logs": "l"}]},
            "code_interpreter",
            {"code": "1"},
            '[{"logs": "l"}]',
        ),
    ],
)
def test_calls_with_their_results(item: dict[str, Any], name: str, arguments: Any, text: str) -> None:
    call, result = read(**item, id="i")
    assert (call.id, call.name, json.loads(call.arguments)) == ("i", name, arguments)
    assert result == HostedResult("i", (text,))


IMAGES = [
    ({"type": "image_generation_call", "id": "i", "result": "AAAA"}, "data:image/png;base64,AAAA"),
    ({"type": "computer_call_output", "call_id": "i", "output": {"image_url": "data:,"}}, "data:,"),
]


@pytest.mark.parametrize(("item", "url"), IMAGES)
def test_images(item: dict[str, Any], url: str) -> None:
    assert read(vision=True, **item)[-1] == HostedResult("i", (ImageSource("input.0", url, None),))
    with pytest.raises(ApiError) as error:
        read(**item)
    assert (error.value.code, error.value.param) == ("unsupported_content", "input.0")


@pytest.mark.parametrize("type", ["compaction_trigger", "configuration_update"])
def test_kinds_without_a_text_are_refused(type: str) -> None:
    with pytest.raises(ApiError, match=f"input.0 is of the type {type}") as error:
        read(type=type, encrypted_content="x")
    assert error.value.code == "unsupported_content"
