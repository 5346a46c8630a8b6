"""A conversation as chat templates want it: a list of plain dictionaries."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from specvino.engine.request import Conversation, Message, ToolCall

Mark = Callable[[str], str]


def texts(prompt: Conversation) -> Iterator[str]:
    """Every text that a client wrote."""
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
            yield json.dumps(arguments(call), ensure_ascii=False)


def turns(prompt: Conversation, *, developer: bool, mark: Mark) -> list[dict[str, Any]]:
    """The template's `messages`; every text goes through `mark`. Without `developer`, that role becomes system."""
    return [_turn(message, developer, mark) for message in prompt.messages]


def arguments(call: ToolCall) -> Any:
    """The call's arguments as an object, which templates print their own way; else the text as it is."""
    try:
        value = json.loads(call.arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return call.arguments
    return value if isinstance(value, dict) else call.arguments


def _turn(message: Message, developer: bool, mark: Mark) -> dict[str, Any]:
    role = message.role if developer or message.role != "developer" else "system"
    turn: dict[str, Any] = {"role": role, "content": mark(message.content)}
    if message.name is not None:
        turn["name"] = mark(message.name)
    if message.tool_call_id is not None:
        turn["tool_call_id"] = mark(message.tool_call_id)
    if message.role == "assistant" and message.reasoning is not None:
        turn["reasoning_content"] = mark(message.reasoning)
    if message.tool_calls:
        turn["tool_calls"] = [
            {
                "id": mark(call.id),
                "type": "function",
                "function": {"name": mark(call.name), "arguments": _marked(arguments(call), mark)},
            }
            for call in message.tool_calls
        ]
    return turn


def _marked(value: Any, mark: Mark) -> Any:
    if isinstance(value, str):
        return mark(value)
    if isinstance(value, list):
        return [_marked(item, mark) for item in value]
    if isinstance(value, dict):
        return {mark(name): _marked(item, mark) for name, item in value.items()}
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
