"""Every kind of item and tool reaches the model, or the request fails, or the header of the answer names it."""

import json
from typing import Any

import pytest

from specvino.document.loading import whole
from specvino.document.pointers import resolved
from specvino.engine.request import Message
from specvino.generated.models import CreateResponseRequest
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.compaction import opened
from specvino.handlers.responses.request import to_messages
from specvino.handlers.tools import offered
from specvino.server.validation.schema import SchemaCheck
from specvino.server.validation.support import apply

MARK = "mark"
CIPHER = Cipher()

# By kind of item: one with the mark in what matters.
ITEMS: dict[str, dict[str, Any]] = {
    "message": {"role": "user", "content": MARK},
    "function_call": {"call_id": "c", "name": "f", "arguments": f'{{"a": "{MARK}"}}'},
    "function_call_output": {"call_id": "c", "output": MARK},
    "custom_tool_call": {"call_id": "c", "name": "f", "input": MARK},
    "custom_tool_call_output": {"call_id": "c", "output": MARK},
    "reasoning": {"summary": [{"type": "summary_text", "text": MARK}]},
    "additional_tools": {"role": "developer", "tools": [{"type": "function", "name": MARK}]},
    "tool_search_call": {"call_id": "c", "arguments": {"query": MARK}},
    "tool_search_output": {"call_id": "c", "tools": [{"type": "custom", "name": MARK}]},
    "apply_patch_call": {"call_id": "c", "operation": {"type": "delete_file", "path": MARK}, "status": "completed"},
    "apply_patch_call_output": {"call_id": "c", "output": MARK, "status": "completed"},
    "code_interpreter_call": {
        "id": "i",
        "code": "1",
        "outputs": [{"type": "logs", "logs": MARK}],
        "status": "completed",
    },
    "computer_call": {"call_id": "c", "action": {"type": "type", "text": MARK}},
    "computer_call_output": {"call_id": "c", "output": {"type": "computer_screenshot", "image_url": MARK}},
    "file_search_call": {"id": "i", "queries": ["q"], "results": [{"text": MARK}]},
    "image_generation_call": {"id": "i", "result": MARK},
    "local_shell_call": {"id": "i", "call_id": "c", "action": {"type": "exec", "command": [MARK]}},
    "local_shell_call_output": {"id": "c", "output": MARK},
    "mcp_approval_request": {"id": "i", "name": MARK, "server_label": "s", "arguments": "{}"},
    "mcp_approval_response": {"approval_request_id": "i", "approve": True, "reason": MARK},
    "mcp_call": {"id": "i", "name": "n", "server_label": "s", "arguments": "{}", "output": MARK},
    "mcp_list_tools": {"id": "i", "server_label": "s", "tools": [{"name": MARK}]},
    "program": {"id": "i", "call_id": "c", "code": MARK, "fingerprint": "f"},
    "program_output": {"id": "i", "call_id": "c", "result": MARK, "status": "completed"},
    "shell_call": {"call_id": "c", "action": {"commands": [MARK]}},
    "shell_call_output": {"call_id": "c", "output": [{"stdout": MARK, "outcome": {"type": "exit", "exit_code": 0}}]},
    "web_search_call": {"id": "i", "action": {"type": "search", "query": MARK}, "status": "completed"},
    "compaction": {"encrypted_content": CIPHER.encrypt(f'{{"summary": "{MARK}", "whole": false}}')},
    "compaction_trigger": {},
    "configuration_update": {"model": MARK},
}

REFUSED = {"compaction_trigger", "configuration_update"}
OF_IMAGES = {"computer_call_output", "image_generation_call"}

# Resolved from the store, before items become messages.
RESOLVED = {"item_reference"}

TOOLS: dict[str, dict[str, Any]] = {
    "function": {"name": MARK},
    "custom": {"name": MARK},
    "namespace": {"name": "n", "tools": [{"type": "function", "name": MARK}]},
    "tool_search": {"execution": "client", "description": MARK},
}


def kinds(component: str) -> set[str]:
    """The values of `type` in the branches of a union of objects."""
    document = whole()
    branches = resolved(document, {"$ref": f"#/components/schemas/{component}"})["anyOf"]
    types = [resolved(document, branch)["properties"]["type"] for branch in branches]
    return {kind for type in types for kind in (type.get("enum") or [type["const"]]) if kind is not None}


def test_every_kind_of_item_has_an_example() -> None:
    assert kinds("InputItem") == ITEMS.keys() | RESOLVED


@pytest.mark.parametrize("kind", ITEMS)
@pytest.mark.parametrize("vision", [False, True])
def test_an_item_reaches_the_model_or_is_refused(kind: str, vision: bool) -> None:
    sent = {"model": "m", "input": [{"role": "user", "content": "hi"}, {"type": kind, **ITEMS[kind]}]}
    SchemaCheck.of_component("CreateResponseRequest").require(sent)
    assert apply("report", sent, "CreateResponseRequest") == []
    body = CreateResponseRequest.model_validate(sent)
    items = opened((), body.input, CIPHER).input
    assert not isinstance(items, str)
    if kind in REFUSED or (kind in OF_IMAGES and not vision):
        with pytest.raises(ApiError, match=kind) as error:
            list(to_messages(items, vision=vision))
        assert (error.value.code, error.value.param) == ("unsupported_content", "input.1")
        return
    drafts = list(to_messages(items, vision=vision))
    shown = [_shown(draft.message) for draft in drafts]
    shown += [image.source.url for draft in drafts for image in draft.images]
    shown += [tool.function_name for item in items for tool in offered(getattr(item, "tools", None) or ())]
    assert any(MARK in text for text in shown), shown


def _shown(message: Message) -> str:
    return json.dumps(
        [message.content, message.reasoning, [(call.name, call.arguments) for call in message.tool_calls]]
    )


@pytest.mark.parametrize("kind", sorted(kinds("ResponseTool")))
def test_a_tool_reaches_the_model_or_is_named_in_the_header(kind: str) -> None:
    sent = {"model": "m", "input": "hi", "tools": [{"type": kind, **TOOLS.get(kind, {})}]}
    SchemaCheck.of_component("CreateResponseRequest").require(sent)
    tools = CreateResponseRequest.model_validate(sent).tools
    assert isinstance(tools, list)
    if kind in TOOLS:
        assert MARK in repr(list(offered(tools)))
    else:
        assert apply("report", sent, "CreateResponseRequest") == ["tools.0.type"]
