"""A conversation as chat templates want it: a list of plain dictionaries."""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from specvino.engine.openvino.messages import image_tags
from specvino.engine.request import Conversation, Message, Tool, ToolCall

Mark = Callable[[str], str]

# Many templates count on there being some.
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def texts(prompt: Conversation) -> Iterator[str]:
    """Yields every text that a client wrote."""
    for message in prompt.messages:
        yield message.content
        yield message.name or ""
        yield message.tool_call_id or ""
        yield message.reasoning or ""
        for call in message.tool_calls:
            yield call.id
            yield call.name
            yield call.arguments
            # Escapes in the JSON text can hide what its values hold.
            yield from _strings(arguments(call))
    yield from _strings(tools(prompt, str))
    yield from _strings(variables(prompt, str))
    yield prompt.chat_template or ""


class TemplateFeatures(NamedTuple):
    """Says what a template wants otherwise than others do.

    Without `developer`, that role becomes system. `json_arguments`: it writes calls' arguments as they are, so that
    they must be JSON text. `thinking`: it takes the reasoning under this name.
    """

    developer: bool = False
    json_arguments: bool = False
    thinking: str = "reasoning_content"


def turns(prompt: Conversation, features: TemplateFeatures, mark: Mark) -> list[dict[str, Any]]:
    """Returns the template's `messages`; every text goes through `mark`.

    Images are tags, numbered in their order in the conversation.
    """
    numbers = itertools.count()
    return [_turn(message, features, mark, numbers) for message in prompt.messages]


def tools(prompt: Conversation, mark: Mark) -> list[dict[str, Any]]:
    """Returns the template's `tools`."""
    return [{"type": "function", "function": _marked(_function(tool), mark)} for tool in prompt.tools]


def variables(prompt: Conversation, mark: Mark) -> dict[str, Any]:
    """Returns the template's further variables."""
    values: dict[str, Any] = _marked(json.loads(prompt.variables), mark)
    return values


def arguments(call: ToolCall) -> Any:
    """Returns the call's arguments as an object, which templates print their own way; else the text as it is."""
    try:
        value = json.loads(call.arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return call.arguments
    return value if isinstance(value, dict) else call.arguments


def _function(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = _NO_PARAMETERS if tool.parameters is None else tool.parameters
    return function


def _turn(message: Message, features: TemplateFeatures, mark: Mark, numbers: Iterator[int]) -> dict[str, Any]:
    role = message.role if features.developer or message.role != "developer" else "system"
    turn: dict[str, Any] = {"role": role, "content": _content(message, mark, numbers)}
    if message.name is not None:
        turn["name"] = mark(message.name)
    if message.tool_call_id is not None:
        turn["tool_call_id"] = mark(message.tool_call_id)
    if message.role == "assistant" and message.reasoning is not None:
        turn[features.thinking] = mark(message.reasoning)
    if message.tool_calls:
        turn["tool_calls"] = [
            {
                "id": mark(call.id),
                "type": "function",
                "function": {"name": mark(call.name), "arguments": _arguments(call, features, mark)},
            }
            for call in message.tool_calls
        ]
    return turn


def _arguments(call: ToolCall, features: TemplateFeatures, mark: Mark) -> Any:
    marked = _marked(arguments(call), mark)
    if features.json_arguments and isinstance(marked, dict):
        return json.dumps(marked, ensure_ascii=False)
    return marked


def _content(message: Message, mark: Mark, numbers: Iterator[int]) -> str:
    pieces: list[str] = []
    start = 0
    for placed in message.images:
        pieces += [mark(message.content[start : placed.at]), image_tags.tag(next(numbers))]
        start = placed.at
    return "".join([*pieces, mark(message.content[start:])])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _strings(item)


def _marked(value: Any, mark: Mark) -> Any:
    if isinstance(value, str):
        return mark(value)
    if isinstance(value, list):
        return [_marked(item, mark) for item in value]
    if isinstance(value, Mapping):
        return {mark(name): _marked(item, mark) for name, item in value.items()}
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
