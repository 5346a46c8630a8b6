"""The fields of a request of Ollama's API, as the pipeline reads them, and its messages."""

import json
from collections.abc import Iterable, Iterator
from itertools import count
from typing import TypeVar

from pydantic import MISSING

from specvino.engine.request import Message, TextPrompt, ToolCall, Truncation
from specvino.engine.segments import Hidden
from specvino.generated import models
from specvino.handlers.errors import unsupported_content
from specvino.handlers.fields import or_none
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource, place
from specvino.handlers.pipeline import RequestFields
from specvino.handlers.tools import CallMatcher

Body = models.OllamaChatRequest | models.OllamaGenerateRequest
AnyBody = TypeVar("AnyBody", models.OllamaChatRequest, models.OllamaGenerateRequest)

_HIDDEN: dict[Hidden, str] = {
    "tools": "tools",
    "content": "messages[].content",
    "arguments": "messages[].tool_calls[].function.arguments",
    "reasoning": "messages[].thinking",
}

_SAME = ("temperature", "top_p", "top_k", "min_p", "seed", "stop", "presence_penalty", "frequency_penalty")
_SETTINGS = {name: f"options.{name}" for name in _SAME} | {"repetition_penalty": "options.repeat_penalty"}

_RANDOM_SEED = -1


def without_random_seed(body: AnyBody) -> AnyBody:
    """Returns the body without a seed that stands for none."""
    options = or_none(body.options)
    if options is None or options.seed != _RANDOM_SEED:
        return body
    return body.model_copy(update={"options": options.model_copy(update={"seed": None})})


def request_fields(body: Body) -> RequestFields:
    """Returns the fields as the pipeline names them. A prompt may lose its first tokens; a conversation, messages."""
    chat = isinstance(body, models.OllamaChatRequest)
    messages = _messages(body) if isinstance(body, models.OllamaChatRequest) else []
    return RequestFields(
        body=body,
        prompt_param="messages" if chat else "prompt",
        logprobs=or_none(body.logprobs) or False,
        top_logprobs=or_none(body.top_logprobs) or 0,
        truncation=Truncation(None) if not chat and truncates(body) else None,
        hidden=_HIDDEN,
        continues=[message.role for message in messages[-1:]] == ["assistant"],
        limited_by_context=True,
        settings=_SETTINGS,
    )


def truncates(body: Body) -> bool:
    """Returns whether a prompt that is too long is shortened."""
    return or_none(body.truncate) is not False


def to_messages(body: Body, *, vision: bool) -> Iterator[MessageDraft]:
    """Yields the conversation's messages. Raises ApiError for images without `vision`."""
    if isinstance(body, models.OllamaChatRequest):
        names: dict[str, str] = {}  # of the called tools, by the call's id
        number = count()
        for index, message in enumerate(_messages(body)):
            calls = tuple(_calls(message, number))
            names |= {call.id: call.name for call in calls}
            yield _message(message, calls, names, f"messages.{index}", vision)
        return
    if system := or_none(body.system):
        yield MessageDraft(Message("system", system))
    text, placed = _content(body.prompt, body.images, "images", vision)
    yield MessageDraft(Message("user", text), placed)


def raw_prompt(body: models.OllamaGenerateRequest) -> TextPrompt:
    """Returns a prompt that no chat template renders. Raises ApiError for images, which have no place in it."""
    if or_none(body.images):
        raise unsupported_content("image", "images.0")
    return TextPrompt(or_none(body.prompt) or "")


def matched(messages: Iterable[models.OllamaMessage]) -> CallMatcher:
    """Returns the calls and results of the messages, as far as they have ids."""
    matcher = CallMatcher()
    for index, message in enumerate(messages):
        for number, call in enumerate(or_none(message.tool_calls) or ()):
            if id := or_none(call.id):
                matcher.call(id, f"messages.{index}.tool_calls.{number}.id")
        if message.role == "tool" and (id := or_none(message.tool_call_id)):
            matcher.result(id, f"messages.{index}.tool_call_id")
    return matcher


def _messages(body: models.OllamaChatRequest) -> list[models.OllamaMessage]:
    return or_none(body.messages) or []


def _message(
    message: models.OllamaMessage, calls: tuple[ToolCall, ...], names: dict[str, str], param: str, vision: bool
) -> MessageDraft:
    text, placed = _content(message.content, message.images, f"{param}.images", vision)
    if message.role != "tool":
        thinking = or_none(message.thinking) if message.role == "assistant" else None
        return MessageDraft(Message(message.role, text, reasoning=thinking or None, tool_calls=calls), placed)
    id = or_none(message.tool_call_id)
    name = or_none(message.tool_name) or names.get(id or "")
    return MessageDraft(Message("tool", text, name=name, tool_call_id=id), placed)


def _calls(message: models.OllamaMessage, number: Iterator[int]) -> Iterator[ToolCall]:
    for call in or_none(message.tool_calls) or ():
        arguments = json.dumps(call.function.arguments, ensure_ascii=False)
        yield ToolCall(or_none(call.id) or f"call_{next(number)}", call.function.name, arguments)


def _content(
    text: str | None | MISSING, images: list[str] | None | MISSING, param: str, vision: bool
) -> tuple[str, tuple[PlacedSource, ...]]:
    """Returns the text with the images before it, as Ollama's templates place them."""
    files = or_none(images) or []
    if files and not vision:
        raise unsupported_content("image", f"{param}.0")
    sources = [ImageSource(f"{param}.{index}", f"data:;base64,{file}", None) for index, file in enumerate(files)]
    return place([*sources, *([text] if isinstance(text, str) and text else [])])
