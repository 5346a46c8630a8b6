"""The items of a response's input -> the turns of a conversation."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from specvino.engine.request import Message, ToolCall
from specvino.generated import models
from specvino.handlers.given import given
from specvino.handlers.refusals import unsupported_content

Item = (
    models.InputMessage
    | models.InputFunctionCall
    | models.InputFunctionCallOutput
    | models.InputReasoning
    | models.InputItemReference
    | models.InputOtherItem
)
Part = (
    models.InputTextPart
    | models.InputOutputTextPart
    | models.RefusalPart
    | models.InputImagePart
    | models.InputFilePart
    | models.AudioPart
)


def to_messages(items: str | Iterable[Item]) -> Iterator[Message]:
    """One turn for each message and each result of a function.

    An assistant's thoughts, text and calls are items of their own, but one turn. Items of a kind that no chat template
    has a place for are left out. Raises ApiError for parts that aren't text.
    """
    if isinstance(items, str):
        yield Message("user", items)
        return
    turn = _AssistantTurn()
    for index, item in enumerate(items):
        param = f"input.{index}"
        match item:
            case models.InputReasoning():
                yield from turn.before("thoughts")
                turn.thoughts.append(_thoughts(item))
            case models.InputMessage(role="assistant"):
                yield from turn.before("text")
                turn.text = _text(item.content, f"{param}.content")
            case models.InputFunctionCall():
                turn.calls.append(ToolCall(_call_id(item, index), item.name, item.arguments))
            case models.InputMessage():
                yield from turn.end()
                yield Message(item.role, _text(item.content, f"{param}.content"))
            case models.InputFunctionCallOutput():
                yield from turn.end()
                output = _text(item.output, f"{param}.output")
                yield Message("tool", output, name=given(item.name), tool_call_id=given(item.call_id))
    yield from turn.end()


@dataclass
class _AssistantTurn:
    """Collects what belongs to one turn."""

    thoughts: list[str] = field(default_factory=list)
    text: str | None = None
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
            )
        self.thoughts, self.text, self.calls = [], None, []


def _thoughts(item: models.InputReasoning) -> str:
    """The thoughts themselves where they are given, else their summary."""
    texts = [part.text for part in given(item.content) or ()] or [part.text for part in given(item.summary) or ()]
    return "\n".join(texts)


def _call_id(item: models.InputFunctionCall, index: int) -> str:
    return given(item.call_id) or given(item.id) or f"call_{index}"


def _text(content: str | Iterable[Part], param: str) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_part(part, f"{param}.{index}") for index, part in enumerate(content))


def _part(part: Part, param: str) -> str:
    match part:
        case models.InputTextPart() | models.InputOutputTextPart():
            return part.text
        case models.RefusalPart():
            return part.refusal
        case _:
            raise unsupported_content(part.type, param)
