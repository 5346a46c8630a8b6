"""The items of a response's input -> the turns of a conversation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from specvino.engine.request import Message, ToolCall
from specvino.generated import models
from specvino.handlers.media import ImageSource, MessageDraft, PlacedSource, place, source
from specvino.handlers.or_none import or_none
from specvino.handlers.unsupported import unsupported_content

InputItem = (
    models.InputMessage
    | models.InputFunctionCall
    | models.InputFunctionCallOutput
    | models.InputReasoning
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


def to_messages(
    items: str | Iterable[InputItem], param: str = "input", *, vision: bool = False
) -> Iterator[MessageDraft]:
    """Yields a message for each message and each result of a function.

    An assistant's reasoning, text and calls are items of their own, but one turn. Items of a kind that no chat template
    has a place for are left out. `param` is the path of the items. Raises ApiError for parts that the model can't read:
    without `vision` it reads text alone.
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
                turn.calls.append(ToolCall(_call_id(item, index), item.name, item.arguments))
            case models.InputMessage():
                yield from turn.end()
                text, placed = _content(item.content, f"{path}.content", vision)
                yield MessageDraft(Message(item.role, text), placed)
            case models.InputFunctionCallOutput():
                yield from turn.end()
                text, placed = _content(item.output, f"{path}.output", vision)
                result = Message("tool", text, name=or_none(item.name), tool_call_id=or_none(item.call_id))
                yield MessageDraft(result, placed)
    yield from turn.end()


@dataclass
class _AssistantTurn:
    """Collects what belongs to one turn."""

    reasoning: list[str] = field(default_factory=list)
    text: str | None = None
    images: tuple[PlacedSource, ...] = ()
    calls: list[ToolCall] = field(default_factory=list)

    def before(self, kind: str) -> Iterator[MessageDraft]:
        """Ends the turn if what comes next can't belong to it: reasoning stands first, and there is one text."""
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
    """Returns the reasoning itself where it is given, else its summary."""
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
