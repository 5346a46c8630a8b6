"""Formats of calls and reasoning: their compatibility, and the special tokens that they need in the text."""

from collections.abc import Collection, Iterator

import msgspec

from specvino.engine.output_parsers.call_format import CallFormat
from specvino.engine.output_parsers.message_framing import FramedCalls, MessageFraming
from specvino.engine.output_parsers.reasoning_tags import ReasoningTags

ToolFormat = CallFormat | FramedCalls
ReasoningFormat = ReasoningTags | MessageFraming


class ShownFormats(msgspec.Struct, frozen=True):
    """The formats of calls and reasoning of a chat template: derived ones, or the names of formats whose messages frame
    the whole output. None means that it has none.
    """

    tool: CallFormat | str | None = None
    reasoning: ReasoningTags | str | None = None


def framing(tool: ToolFormat | None, reasoning: ReasoningFormat | None) -> MessageFraming | None:
    """Returns the framing of outputs that consist of messages; None for other outputs."""
    if isinstance(tool, FramedCalls):
        return tool.framing
    return reasoning if isinstance(reasoning, MessageFraming) else None


def go_together(tool: ToolFormat | None, reasoning: ReasoningFormat | None) -> bool:
    """Returns whether both formats can occur in one output."""
    framed = framing(tool, reasoning)
    if framed is None or tool is None or reasoning is None:
        return True
    return isinstance(tool, FramedCalls) and reasoning == framed


def needed_special_tokens(
    tool: ToolFormat | None, reasoning: ReasoningFormat | None, special: Collection[str]
) -> frozenset[str]:
    """Returns the `special` tokens of a vocabulary that must be kept in the text to parse these formats."""
    texts = tuple(_texts(tool, reasoning))
    return frozenset(token for token in special if token.strip() and any(token in text for text in texts))


def _texts(tool: ToolFormat | None, reasoning: ReasoningFormat | None) -> Iterator[str]:
    if tool is not None:
        yield from tool.literals
    match reasoning:
        case ReasoningTags(start, end):
            yield from (start, end)
        case MessageFraming():
            yield from reasoning.literals


def closing_of_thinking(reasoning: ReasoningFormat | None, message: str = "") -> str | None:
    """Returns the text that ends reasoning, after a last message; None if the reasoning isn't between two tags."""
    return reasoning.closing(message) if isinstance(reasoning, ReasoningTags) else None


def ends_in_thinking(reasoning: ReasoningFormat | None, prompt: str) -> bool:
    """Returns whether a prompt ends within the reasoning, so that the output begins there."""
    match reasoning:
        case ReasoningTags(start, _, title):
            return prompt.rstrip().endswith((start, (start + title).rstrip()))
        case MessageFraming(thinking=header):
            return prompt.rstrip().endswith(header.strip())
    return False
