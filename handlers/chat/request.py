"""The fields of a chat request, as the pipeline reads them, and its messages."""

from collections.abc import Iterable, Iterator

from pydantic import MISSING

from specvino.engine.request import Message, ToolCall
from specvino.engine.segments import Hidden
from specvino.generated import models
from specvino.handlers.chunks import counts_tokens
from specvino.handlers.errors import unsupported_content
from specvino.handlers.fields import or_none
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource, place, source
from specvino.handlers.pipeline import RequestFields
from specvino.handlers.tools import CallMatcher, custom_arguments

AnyMessage = (
    models.DeveloperMessage
    | models.SystemMessage
    | models.UserMessage
    | models.AssistantMessage
    | models.ToolMessage
    | models.FunctionMessage
)
UserPart = (
    models.TextPart
    | models.ImagePart
    | models.AudioPart
    | models.FilePart
    | models.VideoPart
    | models.AudioUrlPart
    | models.ImageEmbedsPart
    | models.AudioEmbedsPart
    | models.VideoEmbedsPart
    | models.PromptEmbedsPart
    | models.ToolReferencePart
    | models.ChatInputTextPart
    | models.ChatInputImagePart
)
AssistantPart = models.TextPart | models.RefusalPart | models.ThinkingPart | models.ChatOutputTextPart


_HIDDEN: dict[Hidden, str] = {
    "tools": "tools",
    "content": "messages[].content",
    "arguments": "messages[].tool_calls[].function.arguments",
    "reasoning": "messages[].reasoning_content",
}


def request_fields(body: models.CreateChatCompletionRequest) -> RequestFields:
    """Returns the fields as the pipeline names them."""
    return RequestFields(
        body=body,
        prompt_param=_prompt_param(body),
        logprobs=or_none(body.logprobs) or False,
        top_logprobs=or_none(body.top_logprobs) or 0,
        token_ids=or_none(body.return_token_ids) or counts_tokens(body),
        hidden=_HIDDEN,
    )


def echoed(body: models.CreateChatCompletionRequest) -> str:
    """Returns the text at the beginning of an answer with `echo`: the last message, if it is the assistant's."""
    last = body.messages[-1]
    if not or_none(body.echo) or not isinstance(last, models.AssistantMessage):
        return ""
    return _content(last.content, "messages", vision=False)[0]


def _prompt_param(body: models.CreateChatCompletionRequest) -> str:
    return next((name for name in ("prompt_token_ids", "input_ids") if or_none(getattr(body, name))), "messages")


def to_messages(body: models.CreateChatCompletionRequest, *, vision: bool = False) -> Iterator[MessageDraft]:
    """Yields the conversation's messages. Raises ApiError for unsupported parts: without `vision`, everything except
    text.
    """
    for index, message in enumerate(body.messages):
        yield _message(message, f"messages.{index}", vision)


def matched(messages: Iterable[AnyMessage]) -> CallMatcher:
    """Returns the calls and results of the messages. Those of the legacy function_call have no ids."""
    matcher = CallMatcher()
    for index, message in enumerate(messages):
        if isinstance(message, models.AssistantMessage):
            for number, call in enumerate(or_none(message.tool_calls) or ()):
                if id := or_none(call.id):
                    matcher.call(id, f"messages.{index}.tool_calls.{number}.id")
        elif isinstance(message, models.ToolMessage):
            matcher.result(message.tool_call_id, f"messages.{index}.tool_call_id")
    return matcher


def _message(message: AnyMessage, param: str, vision: bool) -> MessageDraft:
    assistant = message if isinstance(message, models.AssistantMessage) else None
    text, placed = _content(message.content, f"{param}.content", vision)
    own = Message(
        role="tool" if message.role == "function" else message.role,
        content=text,
        name=or_none(message.name),
        reasoning=or_none(assistant.reasoning_content) or or_none(assistant.reasoning) if assistant else None,
        tool_calls=tuple(_calls(assistant)) if assistant else (),
        tool_call_id=message.tool_call_id if isinstance(message, models.ToolMessage) else None,
    )
    return MessageDraft(own, placed)


def _content(
    content: str | list[models.TextPart] | list[AssistantPart] | list[UserPart] | None | MISSING,
    param: str,
    vision: bool,
) -> tuple[str, tuple[PlacedSource, ...]]:
    if isinstance(content, list):
        return place(_part(part, f"{param}.{index}", vision) for index, part in enumerate(content))
    return (content if isinstance(content, str) else ""), ()


def _part(part: UserPart | AssistantPart, param: str, vision: bool) -> str | ImageSource:
    match part:
        case models.TextPart() | models.ChatInputTextPart() | models.ChatOutputTextPart():
            return part.text
        case models.RefusalPart():
            return part.refusal
        case models.ImagePart() if vision:
            return source(param, part.image_url)
        case models.ChatInputImagePart() if vision:
            return source(param, part.image_url, or_none(part.detail))
        case _:
            raise unsupported_content(part.type, param)


def _calls(message: models.AssistantMessage) -> Iterator[ToolCall]:
    for index, call in enumerate(or_none(message.tool_calls) or ()):
        id = or_none(call.id) or f"call_{index}"
        if isinstance(call, models.MessageFunctionToolCall):
            yield _call(id, call.function)
        else:
            yield ToolCall(id, call.custom.name, custom_arguments(call.custom.input))
    if legacy := or_none(message.function_call):
        yield _call("call_0", legacy)


def _call(id: str, function: models.MessageFunctionCall | models.LegacyFunctionCall) -> ToolCall:
    return ToolCall(id=id, name=function.name, arguments=or_none(function.arguments) or "{}")
