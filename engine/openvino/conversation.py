"""A conversation as chat templates want it: a list of plain dictionaries."""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from specvino.engine.openvino import image_tags
from specvino.engine.request import Conversation, Image, Message, PlacedImage, ToolCall

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
    """The template's `messages`; every text goes through `mark`. Without `developer`, that role becomes system.

    Images are tags, numbered in their order in the conversation.
    """
    numbers = itertools.count()
    return [_turn(message, developer, mark, numbers) for message in prompt.messages]


def images(prompt: Conversation) -> list[Image]:
    """In the order of their tags' numbers."""
    return [placed.image for message in prompt.messages for placed in message.images]


def without_pixels(prompt: Conversation) -> Conversation:
    """The conversation as the template needs it: of its images only the places."""
    if not any(message.images for message in prompt.messages):
        return prompt
    return Conversation(tuple(replace(message, images=_outlines(message.images)) for message in prompt.messages))


def arguments(call: ToolCall) -> Any:
    """The call's arguments as an object, which templates print their own way; else the text as it is."""
    try:
        value = json.loads(call.arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return call.arguments
    return value if isinstance(value, dict) else call.arguments


def _outlines(images: tuple[PlacedImage, ...]) -> tuple[PlacedImage, ...]:
    return tuple(replace(placed, image=replace(placed.image, rgb=b"")) for placed in images)


def _turn(message: Message, developer: bool, mark: Mark, numbers: Iterator[int]) -> dict[str, Any]:
    role = message.role if developer or message.role != "developer" else "system"
    turn: dict[str, Any] = {"role": role, "content": _content(message, mark, numbers)}
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


def _content(message: Message, mark: Mark, numbers: Iterator[int]) -> str:
    pieces: list[str] = []
    start = 0
    for placed in message.images:
        pieces += [mark(message.content[start : placed.at]), image_tags.tag(next(numbers))]
        start = placed.at
    return "".join([*pieces, mark(message.content[start:])])


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
