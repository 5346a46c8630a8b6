"""The items of a response's input -> the turns of a conversation."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from specvino.engine.request import Image, Message, PlacedImage, ToolCall
from specvino.generated import models
from specvino.handlers.given import given
from specvino.handlers.media import ImageSource, place, source
from specvino.handlers.refusals import unsupported_content

Item = (
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


def image_sources(items: str | Iterable[Item], param: str = "input") -> Iterator[ImageSource]:
    """Where the images of the items are; `param` is the path of the items."""
    for index, item in enumerate(items if not isinstance(items, str) else ()):
        match item:
            case models.InputMessage(content=list(parts)):
                yield from _sources(parts, f"{param}.{index}.content")
            case models.InputFunctionCallOutput(output=list(parts)):
                yield from _sources(parts, f"{param}.{index}.output")


def _sources(parts: Iterable[Part], param: str) -> Iterator[ImageSource]:
    for number, part in enumerate(parts):
        if isinstance(part, models.InputImageContent) and isinstance(part.image_url, str | models.ImageUrl):
            yield source(f"{param}.{number}", part.image_url, given(part.detail))


def to_messages(
    items: str | Iterable[Item], images: Mapping[str, Image] = MappingProxyType({}), param: str = "input"
) -> Iterator[Message]:
    """One turn for each message and each result of a function.

    An assistant's thoughts, text and calls are items of their own, but one turn. Items of a kind that no chat template
    has a place for are left out. `images` are by the paths of their parts, and `param` is that of the items. Raises
    ApiError for parts that are neither text nor one of these images.
    """
    if isinstance(items, str):
        yield Message("user", items)
        return
    turn = _AssistantTurn()
    for index, item in enumerate(items):
        path = f"{param}.{index}"
        match item:
            case models.InputReasoning():
                yield from turn.before("thoughts")
                turn.thoughts.append(_thoughts(item))
            case models.InputMessage(role="assistant"):
                yield from turn.before("text")
                turn.text, turn.images = _content(item.content, f"{path}.content", images)
            case models.InputFunctionCall():
                turn.calls.append(ToolCall(_call_id(item, index), item.name, item.arguments))
            case models.InputMessage():
                yield from turn.end()
                text, placed = _content(item.content, f"{path}.content", images)
                yield Message(item.role, text, images=placed)
            case models.InputFunctionCallOutput():
                yield from turn.end()
                text, placed = _content(item.output, f"{path}.output", images)
                yield Message("tool", text, name=given(item.name), tool_call_id=given(item.call_id), images=placed)
    yield from turn.end()


@dataclass
class _AssistantTurn:
    """Collects what belongs to one turn."""

    thoughts: list[str] = field(default_factory=list)
    text: str | None = None
    images: tuple[PlacedImage, ...] = ()
    calls: list[ToolCall] = field(default_factory=list)

    def before(self, kind: str) -> Iterator[Message]:
        """Ends the turn if what comes next can't belong to it: thoughts stand first, and there is one text."""
        if self.text is not None or (kind == "thoughts" and self.calls):
            yield from self.end()

    def end(self) -> Iterator[Message]:
        if self.thoughts or self.text is not None or self.calls:
            yield Message(
                "assistant",
                self.text or "",
                reasoning="\n".join(self.thoughts) if self.thoughts else None,
                tool_calls=tuple(self.calls),
                images=self.images,
            )
        self.thoughts, self.text, self.images, self.calls = [], None, (), []


def _thoughts(item: models.InputReasoning) -> str:
    """The thoughts themselves where they are given, else their summary."""
    texts = [part.text for part in given(item.content) or ()] or [part.text for part in given(item.summary) or ()]
    return "\n".join(texts)


def _call_id(item: models.InputFunctionCall, index: int) -> str:
    return given(item.call_id) or given(item.id) or f"call_{index}"


def _content(
    content: str | Iterable[Part], param: str, images: Mapping[str, Image]
) -> tuple[str, tuple[PlacedImage, ...]]:
    if isinstance(content, str):
        return content, ()
    return place(_part(part, f"{param}.{index}", images) for index, part in enumerate(content))


def _part(part: Part, param: str, images: Mapping[str, Image]) -> str | Image:
    match part:
        case models.InputTextContent() | models.InputOutputTextContent():
            return part.text
        case models.RefusalPart():
            return part.refusal
        case models.InputImageContent() if param in images:
            return images[param]
        case _:
            raise unsupported_content(part.type, param)
