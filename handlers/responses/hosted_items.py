"""Items of the provider's own tools in an input, as calls and results of functions.

Kinds and members are those of the package openai 3.57.0, types/responses/response_input_item_param.py.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specvino.engine.request import ToolCall
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError, unsupported_content
from specvino.handlers.media import ImageSource
from specvino.handlers.tools import qualified

# The member of a result that refers to its call, by kind.
_RESULTS = {
    "apply_patch_call_output": "call_id",
    "computer_call_output": "call_id",
    "local_shell_call_output": "id",
    "mcp_approval_response": "approval_request_id",
    "program_output": "call_id",
    "shell_call_output": "call_id",
}

# The members with the result of a call that contains it, by kind.
_WITH_RESULT = {
    "code_interpreter_call": {"outputs"},
    "file_search_call": {"results"},
    "image_generation_call": {"result", "error"},
    "mcp_call": {"output", "error"},
    "mcp_list_tools": {"tools", "error"},
    "web_search_call": {"results"},
}

# Members that neither describe a call nor its result.
_OTHERS = {"type", "id", "call_id", "approval_request_id", "status", "caller", "execution", "fingerprint"}

# Kinds whose results are images.
IMAGES = ("computer_call_output", "image_generation_call")

# Kinds that are never a part of the prompt, and why.
REFUSED = {
    "compaction_trigger": "which this server doesn't support: use context_management or /responses/compact",
    "configuration_update": "and this server can't change its configuration",
}


@dataclass(frozen=True, slots=True)
class HostedResult:
    """The result of the call `call_id`: texts and images."""

    call_id: str
    parts: tuple[str | ImageSource, ...]


def hosted_exchange(item: models.InputHostedToolItem, param: str, *, vision: bool) -> Iterator[ToolCall | HostedResult]:
    """Yields the call, the result, or both, of an item in the field `param`. Raises ApiError for kinds without a text,
    and for images without `vision`.
    """
    if item.type in REFUSED:
        message = f"{param} is of the type {item.type}, {REFUSED[item.type]}."
        raise ApiError(ErrorCode.UNSUPPORTED_CONTENT, message, param=param)
    members = {name: value for name, value in item.model_dump(by_alias=True).items() if value is not None}
    described = {name: value for name, value in members.items() if name not in _OTHERS}
    status = members.get("status")
    if reference := _RESULTS.get(item.type):
        if status not in (None, "completed"):
            described["status"] = status
        id = members.get(reference) or members.get("call_id") or members.get("id")
        yield HostedResult(str(id or ""), tuple(_parts(item.type, described, "completed", param, vision)))
        return
    names = _WITH_RESULT.get(item.type, set())
    id = str(members.get("call_id") or members.get("id") or param)
    arguments = {name: value for name, value in described.items() if name not in names}
    yield _call(item.type, id, arguments)
    if item.type in _WITH_RESULT:
        result = {name: value for name, value in described.items() if name in names}
        yield HostedResult(id, tuple(_parts(item.type, result, str(status or "completed"), param, vision)))


def _call(kind: str, id: str, arguments: dict[str, Any]) -> ToolCall:
    if kind == "mcp_call":
        name = qualified(str(arguments.get("name", "")), str(arguments.get("server_label") or ""))
        return ToolCall(id, name, str(arguments.get("arguments") or "{}"))
    if kind == "tool_search_call":
        arguments = arguments.get("arguments", {})
    return ToolCall(id, kind.removesuffix("_call"), json.dumps(arguments, ensure_ascii=False))


def _parts(kind: str, result: dict[str, Any], empty: str, param: str, vision: bool) -> Iterator[str | ImageSource]:
    """Yields a result: an image, a text by itself, everything else as JSON; `empty` if there is none."""
    match kind, result:
        case "image_generation_call", {"result": str(image)}:
            url = f"data:image/png;base64,{image}"
        case "computer_call_output", {"output": {"image_url": str(url)}}:
            pass
        case _, {} if not result:
            yield empty
            return
        case _:
            value = next(iter(result.values())) if len(result) == 1 else result
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            return
    if not vision:
        raise unsupported_content(kind, param)
    yield ImageSource(param, url, None)
