"""The fields of a request of the messages API, as the pipeline reads them, and its messages."""

import json
from collections.abc import Iterator, Sequence

from pydantic import MISSING

from specvino.engine.request import Message, ToolCall
from specvino.engine.segments import Hidden
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError, unsupported_content
from specvino.handlers.fields import or_none
from specvino.handlers.media import ImageSource, MessageDraft, place
from specvino.handlers.messages.tools import changed_tools
from specvino.handlers.pipeline import RequestFields
from specvino.handlers.tools import CallMatcher

Body = models.CreateMessageRequest | models.CountTokensRequest
AnyMessage = models.AnthropicUserMessage | models.AnthropicAssistantMessage | models.AnthropicSystemMessage
UserBlock = (
    models.AnthropicTextBlock
    | models.AnthropicImageBlock
    | models.AnthropicDocumentBlock
    | models.AnthropicSearchResultBlock
    | models.AnthropicToolResultBlock
)
ResultBlock = (
    models.AnthropicTextBlock
    | models.AnthropicImageBlock
    | models.AnthropicDocumentBlock
    | models.AnthropicSearchResultBlock
    | models.AnthropicToolReferenceBlock
)
AssistantBlock = (
    models.AnthropicTextBlock
    | models.AnthropicThinkingBlock
    | models.AnthropicRedactedThinkingBlock
    | models.AnthropicToolUseBlock
    | models.AnthropicServerToolUseBlock
    | models.AnthropicWebSearchResultBlock
)
SystemBlock = models.AnthropicTextBlock | models.AnthropicToolAdditionBlock | models.AnthropicToolRemovalBlock

_HIDDEN: dict[Hidden, str] = {
    "tools": "tools",
    "content": "messages[].content",
    "arguments": "messages[].content[].input",
    "reasoning": "messages[].content[].thinking",
}

_FAILED = "The tool call failed:"


def request_fields(body: Body) -> RequestFields:
    """Returns the fields as the pipeline names them. Raises ApiError for changes of unknown tools."""
    tools = changed_tools(body)
    return RequestFields(
        body=body,
        prompt_param="messages",
        hidden=_HIDDEN,
        more_tools=tools.added,
        removed_tools=tools.removed,
        continues=isinstance(body.messages[-1], models.AnthropicAssistantMessage),
        limited_by_context=True,
    )


def to_messages(body: Body, cipher: Cipher | None, *, vision: bool) -> Iterator[MessageDraft]:
    """Yields the conversation's messages: a message for each result of a call, too. Raises ApiError without `vision`
    for images and, with a `cipher`, for calls without results, results without calls and reasoning that it hasn't
    signed; without one, as in systems that don't sign reasoning, its text is read.
    """
    if cipher:
        require_results(body.messages)
    if system := _text(body.system):
        yield MessageDraft(Message("system", system))
    names: dict[str, str] = {}  # of the called tools, by the call's id
    for index, message in enumerate(body.messages):
        param = f"messages.{index}.content"
        match message:
            case models.AnthropicSystemMessage():
                if (text := _system(message.content)) is not None:
                    yield MessageDraft(Message("system", text))
            case models.AnthropicAssistantMessage():
                answer = _answer(message.content, param, cipher)
                names |= {call.id: call.name for call in answer.tool_calls}
                yield MessageDraft(answer)
            case models.AnthropicUserMessage():
                yield from _turn(message.content, param, names, vision)


def require_results(messages: Sequence[AnyMessage]) -> None:
    """Raises ApiError unless each call has one result, in the next message of the user."""
    calls: dict[str, str] = {}  # without results yet, by id, with their fields
    for index, message in enumerate(messages):
        if isinstance(message, models.AnthropicSystemMessage):
            continue
        for part, block in enumerate(message.content):
            param = f"messages.{index}.content.{part}"
            if isinstance(block, models.AnthropicToolResultBlock) and calls.pop(block.tool_use_id, None) is None:
                reason = "but the message before has no tool_use with this id that has no result yet"
                raise _invalid(f"{param}.tool_use_id", block.tool_use_id, reason)
        if calls:
            break
        for part, block in enumerate(message.content):
            param = f"messages.{index}.content.{part}"
            if isinstance(block, models.AnthropicToolUseBlock) and calls.setdefault(block.id, param) != param:
                raise _invalid(f"{param}.id", block.id, "which an earlier tool_use of the message has, too")
    for id, param in calls.items():
        raise _invalid(f"{param}.id", id, "but the next message has no tool_result for it")


def matched(messages: Sequence[AnyMessage]) -> CallMatcher:
    """Returns the calls and results of the messages."""
    matcher = CallMatcher()
    for index, message in enumerate(messages):
        for part, block in enumerate(message.content):
            param = f"messages.{index}.content.{part}"
            if isinstance(block, models.AnthropicToolUseBlock):
                matcher.call(block.id, f"{param}.id")
            elif isinstance(block, models.AnthropicToolResultBlock):
                matcher.result(block.tool_use_id, f"{param}.tool_use_id")
    return matcher


def _invalid(param: str, id: str, reason: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_VALUE, f"{param} is {id[:200]!r}, {reason}.", param=param)


def _text(content: str | list[models.AnthropicTextBlock] | None | MISSING) -> str:
    if isinstance(content, list):
        return "\n".join(block.text for block in content)
    return content if isinstance(content, str) else ""


def _system(content: str | list[SystemBlock]) -> str | None:
    """Returns the text of instructions; None if they only change the tools."""
    if isinstance(content, str):
        return content
    texts = [block for block in content if isinstance(block, models.AnthropicTextBlock)]
    return _text(texts) if texts or not content else None


def _answer(content: str | list[AssistantBlock], param: str, cipher: Cipher | None) -> Message:
    if isinstance(content, str):
        return Message("assistant", content)
    texts: list[str] = []
    reasoning: list[str] = []
    calls: list[ToolCall] = []
    for index, block in enumerate(content):
        match block:
            case models.AnthropicTextBlock():
                texts.append(block.text)
            case models.AnthropicThinkingBlock():
                reasoning.append(_signed(block, f"{param}.{index}", cipher) if cipher else block.thinking)
            case models.AnthropicRedactedThinkingBlock():
                reasoning += [cipher.require(block.data, f"{param}.{index}.data")] if cipher else []
            case models.AnthropicToolUseBlock():
                calls.append(ToolCall(block.id, block.name, json.dumps(block.input, ensure_ascii=False)))
            case models.AnthropicServerToolUseBlock() | models.AnthropicWebSearchResultBlock():
                raise unsupported_content(block.type, f"{param}.{index}")
    return Message(
        "assistant",
        "\n".join(texts),
        reasoning="\n".join(reasoning) if reasoning else None,
        tool_calls=tuple(calls),
    )


def _signed(block: models.AnthropicThinkingBlock, param: str, cipher: Cipher) -> str:
    """Returns reasoning that the server has signed. Its text may be omitted, but not changed."""
    text = cipher.require(block.signature, f"{param}.signature")
    if block.thinking not in ("", text):
        message = f"{param}.thinking isn't the text that its signature is for. Send it as the server returned it."
        raise ApiError(ErrorCode.INVALID_ENCRYPTED_CONTENT, message, param=f"{param}.thinking")
    return text


def _turn(content: str | list[UserBlock], param: str, names: dict[str, str], vision: bool) -> Iterator[MessageDraft]:
    """Yields the messages of a user's turn: results of calls, and what the user says before, between and after them."""
    if isinstance(content, str):
        yield MessageDraft(Message("user", content))
        return
    parts: list[str | ImageSource] = []
    for index, block in enumerate(content):
        path = f"{param}.{index}"
        if not isinstance(block, models.AnthropicToolResultBlock):
            parts += _parts(block, path, vision)
            continue
        if parts:
            yield _user(parts)
            parts = []
        text, placed = place(_result(block, path, vision))
        id = block.tool_use_id
        yield MessageDraft(Message("tool", text, name=names.get(id), tool_call_id=id), placed)
    if parts or not any(isinstance(block, models.AnthropicToolResultBlock) for block in content):
        yield _user(parts)


def _user(parts: list[str | ImageSource]) -> MessageDraft:
    text, placed = place(parts)
    return MessageDraft(Message("user", text), placed)


def _result(block: models.AnthropicToolResultBlock, param: str, vision: bool) -> Iterator[str | ImageSource]:
    if or_none(block.is_error):
        yield _FAILED
    content: str | list[ResultBlock] = or_none(block.content) or ""
    if isinstance(content, str):
        yield content
        return
    for index, part in enumerate(content):
        yield from _parts(part, f"{param}.content.{index}", vision)


def _parts(block: UserBlock | ResultBlock, param: str, vision: bool) -> Iterator[str | ImageSource]:
    """Yields the lines of a block that isn't a result. Raises ApiError for an image that the model can't read."""
    match block:
        case models.AnthropicTextBlock():
            yield block.text
        case models.AnthropicImageBlock():
            if not vision:
                raise unsupported_content(block.type, param)
            yield ImageSource(param, _url(block.source), None)
        case models.AnthropicDocumentBlock():
            yield from (text for text in (or_none(block.title), or_none(block.context)) if text)
            yield from _document(block.source, f"{param}.source", vision)
        case models.AnthropicSearchResultBlock():
            yield from (block.title, block.source, *(part.text for part in block.content))
        case models.AnthropicToolReferenceBlock():
            yield block.tool_name


def _document(
    source: models.AnthropicPlainText | models.AnthropicDocumentContent, param: str, vision: bool
) -> Iterator[str | ImageSource]:
    if isinstance(source, models.AnthropicPlainText):
        yield source.data
    elif isinstance(source.content, str):
        yield source.content
    else:
        for index, part in enumerate(source.content):
            yield from _parts(part, f"{param}.content.{index}", vision)


def _url(source: models.AnthropicBase64Image | models.AnthropicUrlImage) -> str:
    return source.url if isinstance(source, models.AnthropicUrlImage) else f"data:;base64,{source.data}"
