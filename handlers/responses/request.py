"""The fields of a response request for the pipeline, and its input: as messages, and in its stored form."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, TypeAdapter

from specvino.engine.request import Message, ToolCall
from specvino.engine.segments import Hidden
from specvino.generated import models
from specvino.handlers.errors import unsupported_content
from specvino.handlers.fields import or_none, value_of
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource, place, source
from specvino.handlers.pipeline import RequestFields
from specvino.handlers.responses.hosted_items import hosted_exchange
from specvino.handlers.store import StoredItem
from specvino.handlers.tools import CallMatcher, OfferedTool, custom_arguments, offered, qualified

InputItem = (
    models.InputMessage
    | models.InputFunctionCall
    | models.InputFunctionCallOutput
    | models.InputCustomToolCall
    | models.InputCustomToolCallOutput
    | models.InputAdditionalTools
    | models.InputToolSearchOutput
    | models.InputReasoning
    | models.InputCompaction
    | models.InputItemReference
    | models.InputHostedToolItem
)
Part = (
    models.InputTextContent
    | models.InputOutputTextContent
    | models.RefusalPart
    | models.InputImageContent
    | models.InputFileContent
    | models.AudioPart
)

_HIDDEN: dict[Hidden, str] = {
    "tools": "tools",
    "content": "input[].content",
    "arguments": "input[].arguments",
    "reasoning": "input[].content",
}

_ITEMS: TypeAdapter[list[InputItem]] = TypeAdapter(list[InputItem])

# Prefixes of the ids of items, by type.
_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "tool_search_output": "tso",
    "reasoning": "rs",
}


# The length of an item's id in the store.
_LONGEST_ID = 512


def request_fields(
    body: models.CreateResponseRequest,
    input: str | Iterable[InputItem] = (),
    earlier: Iterable[InputItem] = (),
    continued: str = "previous_response_id",
) -> RequestFields:
    """Returns the fields as the pipeline names them; the items, of which the field `continued` names the earlier ones,
    may contain tools."""
    return RequestFields(
        body=body,
        prompt_param="input",
        logprobs=_wants_logprobs(body),
        top_logprobs=or_none(body.top_logprobs) or 0,
        hidden=_HIDDEN,
        more_tools=(*_tools(earlier, continued), *_tools(input, "input")),
    )


def conversation_of(body: models.CreateResponseRequest) -> str | None:
    """Returns the id of the stored conversation to which the response is to belong."""
    match body.conversation:
        case models.ConversationReference(id=id) | str(id):
            return id
    return None


def counted(body: models.InputTokensRequest) -> models.CreateResponseRequest:
    """Returns the request for a response whose prompt is counted."""
    fields = body.model_dump(by_alias=True, exclude_unset=True)
    of_prompt = {name: value for name, value in fields.items() if value_of(body, name) is not None}
    return models.CreateResponseRequest.model_validate(of_prompt)


def to_summarize(model: str, **fields: Any) -> models.CreateResponseRequest:
    """Returns the request for a summary, of the conversation in `fields` if it has one."""
    given = {name: value for name, value in fields.items() if value is not None}
    return models.CreateResponseRequest.model_validate({"model": model, "input": [], "temperature": 0.0, **given})


def _tools(items: str | Iterable[InputItem], param: str) -> Iterator[OfferedTool]:
    for index, item in enumerate(items):
        if isinstance(item, models.InputAdditionalTools | models.InputToolSearchOutput):
            yield from offered(item.tools, f"{param}.{index}.tools")


def _wants_logprobs(body: models.CreateResponseRequest) -> bool:
    included = "message.output_text.logprobs" in (or_none(body.include) or ())
    return included or bool(or_none(body.logprobs)) or bool(or_none(body.top_logprobs))


def to_messages(
    items: str | Iterable[InputItem], param: str = "input", *, vision: bool = False
) -> Iterator[MessageDraft]:
    """Yields a message for each message and each result of a call.

    An assistant's reasoning, text and calls are separate items, but one message. `param` is the path of the items.
    Raises ApiError for unsupported parts: without `vision`, everything except text.
    """
    if isinstance(items, str):
        yield MessageDraft(Message("user", items))
        return
    turn = _AssistantTurn()
    for index, item in enumerate(items):
        path = f"{param}.{index}"
        match item:
            case models.InputReasoning():
                yield from turn.before("reasoning")
                turn.reasoning.append(_reasoning(item))
            case models.InputMessage(role="assistant"):
                yield from turn.before("text")
                turn.text, turn.images = _content(item.content, f"{path}.content", vision)
            case models.InputFunctionCall():
                name = qualified(item.name, or_none(item.namespace))
                turn.calls.append(ToolCall(_call_id(item, index), name, item.arguments))
            case models.InputCustomToolCall():
                name = qualified(item.name, or_none(item.namespace))
                turn.calls.append(ToolCall(item.call_id, name, custom_arguments(item.input)))
            case models.InputMessage():
                yield from turn.end()
                text, placed = _content(item.content, f"{path}.content", vision)
                yield MessageDraft(Message(item.role, text), placed)
            case models.InputFunctionCallOutput():
                yield from turn.end()
                text, placed = _content(item.output, f"{path}.output", vision)
                result = Message("tool", text, name=or_none(item.name), tool_call_id=or_none(item.call_id))
                yield MessageDraft(result, placed)
            case models.InputCustomToolCallOutput():
                yield from turn.end()
                text, placed = _content(item.output, f"{path}.output", vision)
                yield MessageDraft(Message("tool", text, tool_call_id=item.call_id), placed)
            case models.InputToolSearchOutput():
                yield from turn.end()
                names = ", ".join(tool.function_name for tool in offered(item.tools))
                yield MessageDraft(Message("tool", names or "no tools", tool_call_id=or_none(item.call_id)))
            case models.InputHostedToolItem():
                for part in hosted_exchange(item, path, vision=vision):
                    if isinstance(part, ToolCall):
                        turn.calls.append(part)
                    else:
                        yield from turn.end()
                        text, placed = place(part.parts)
                        yield MessageDraft(Message("tool", text, tool_call_id=part.call_id), placed)
    yield from turn.end()


@dataclass
class _AssistantTurn:
    """An assistant's message as its items are read."""

    reasoning: list[str] = field(default_factory=list)
    text: str | None = None
    images: tuple[PlacedSource, ...] = ()
    calls: list[ToolCall] = field(default_factory=list)

    def before(self, kind: str) -> Iterator[MessageDraft]:
        """Ends the turn if an item of this kind can't belong to it: a turn begins with reasoning, and has one text."""
        if self.text is not None or (kind == "reasoning" and self.calls):
            yield from self.end()

    def end(self) -> Iterator[MessageDraft]:
        if self.reasoning or self.text is not None or self.calls:
            message = Message(
                "assistant",
                self.text or "",
                reasoning="\n".join(self.reasoning) if self.reasoning else None,
                tool_calls=tuple(self.calls),
            )
            yield MessageDraft(message, self.images)
        self.reasoning, self.text, self.images, self.calls = [], None, (), []


def _reasoning(item: models.InputReasoning) -> str:
    """Returns the reasoning itself if it is given, else its summary."""
    texts = [part.text for part in or_none(item.content) or ()] or [part.text for part in or_none(item.summary) or ()]
    return "\n".join(texts)


def _call_id(item: models.InputFunctionCall, index: int) -> str:
    return or_none(item.call_id) or or_none(item.id) or f"call_{index}"


def _content(content: str | Iterable[Part], param: str, vision: bool) -> tuple[str, tuple[PlacedSource, ...]]:
    if isinstance(content, str):
        return content, ()
    return place(_part(part, f"{param}.{index}", vision) for index, part in enumerate(content))


def _part(part: Part, param: str, vision: bool) -> str | ImageSource:
    match part:
        case models.InputTextContent() | models.InputOutputTextContent():
            return part.text
        case models.RefusalPart():
            return part.refusal
        case models.InputImageContent(image_url=str() | models.ImageUrl() as url) if vision:
            return source(param, url, or_none(part.detail))
        case _:
            raise unsupported_content(part.type, param)


def matched(
    earlier: Iterable[InputItem], input: str | Iterable[InputItem], continued: str = "previous_response_id"
) -> CallMatcher:
    """Returns the calls and results of the client's tools in the items that a request continues, by the field
    `continued`, and in its input."""
    matcher = CallMatcher()
    items = [(continued, item) for item in earlier]
    items += [] if isinstance(input, str) else [(f"input.{index}.call_id", item) for index, item in enumerate(input)]
    for param, item in items:
        match item:
            case models.InputFunctionCall() | models.InputCustomToolCall():
                if id := or_none(item.call_id) or or_none(item.id):
                    matcher.call(id, param)
            case models.InputFunctionCallOutput() | models.InputCustomToolCallOutput():
                matcher.result(or_none(item.call_id) or "", param)
    return matcher


def stored(input: str | Iterable[InputItem]) -> list[StoredItem]:
    """Returns an input in its stored form: each item with an id and without nulls, contents as lists of parts."""
    if isinstance(input, str):
        return [_complete({"type": "message", "role": "user", "content": input})]
    return [_complete(_plain(item)) for item in input]


def read(items: Iterable[StoredItem]) -> list[InputItem]:
    """Converts stored items, of an input or an output, to input items."""
    return _ITEMS.validate_python(list(items))


def _plain(item: BaseModel) -> dict[str, Any]:
    return {name: value for name, value in item.model_dump(by_alias=True).items() if value is not None}


def _complete(item: dict[str, Any]) -> StoredItem:
    kind = item.get("type", "message")
    id = item.get("id")
    if not isinstance(id, str) or not 0 < len(id) <= _LONGEST_ID or "\0" in id:  # which some databases can't store
        id = f"{_PREFIXES.get(kind, 'item')}_{uuid.uuid4().hex}"
    item = {**item, "type": kind, "id": id}
    if kind in _PREFIXES:
        item["status"] = item.get("status") or "completed"
    if isinstance(text := item.get("content"), str):
        item["content"] = [_text(text, item["role"])]
    return item


def _text(text: str, role: str) -> dict[str, Any]:
    if role == "assistant":
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "input_text", "text": text}
