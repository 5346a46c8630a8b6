"""The formats of calls and of reasoning: by their names, and which of them go together."""

from collections.abc import Collection, Iterator

import msgspec

from specvino.engine.output_parsers import gptoss, onyx
from specvino.engine.output_parsers.call_format import CallFormat
from specvino.engine.output_parsers.framed_calls import FramedCalls
from specvino.engine.output_parsers.message_framing import MessageFraming
from specvino.engine.output_parsers.named_formats import CALL_FORMATS, REASONING_ALIASES, TOOL_ALIASES
from specvino.engine.output_parsers.reasoning_tags import GEMMA4, THINK, ReasoningTags

ToolFormat = CallFormat | FramedCalls
ReasoningFormat = ReasoningTags | MessageFraming

TOOL_PARSERS: dict[str, ToolFormat] = {**CALL_FORMATS, "gptoss": gptoss.CALLS, "onyx": onyx.CALLS}

REASONING_PARSERS: dict[str, ReasoningFormat] = {
    "qwen3": THINK,
    "gptoss": gptoss.FRAMING,
    "gemma4": GEMMA4,
    "lfm2": THINK,
    "minicpm5": THINK,
    "onyx": onyx.FRAMING,
    "mistral": ReasoningTags("[THINK]", "[/THINK]"),
    "seed_oss": ReasoningTags("<seed:think>", "</seed:think>"),
    "cohere_command3": ReasoningTags("<|START_THINKING|>", "<|END_THINKING|>"),
}
TOOL_PARSER_NAMES = (*TOOL_PARSERS, *TOOL_ALIASES)
REASONING_PARSER_NAMES = (*REASONING_PARSERS, *REASONING_ALIASES)

MESSAGE_FRAMINGS = {"gptoss": gptoss.FRAMING, "onyx": onyx.FRAMING}


class ShownFormats(msgspec.Struct, frozen=True):
    """Holds the formats of calls and of reasoning that a chat template shows: derived ones, or the names of those whose
    messages frame a whole output. None is none that it shows."""

    tool: CallFormat | str | None = None
    reasoning: ReasoningTags | str | None = None


def tool_format(name: str) -> ToolFormat:
    """Returns the format of this name, which may be vLLM's. Raises ValueError."""
    known = TOOL_ALIASES.get(name, name)
    if known not in TOOL_PARSERS:
        raise ValueError(f"unknown tool format {name!r}: it is one of {', '.join(TOOL_PARSER_NAMES)}")
    return TOOL_PARSERS[known]


def reasoning_format(name: str) -> ReasoningFormat:
    """Returns the format of this name, which may be vLLM's. Raises ValueError."""
    known = REASONING_ALIASES.get(name, name)
    if known not in REASONING_PARSERS:
        raise ValueError(f"unknown reasoning format {name!r}: it is one of {', '.join(REASONING_PARSER_NAMES)}")
    return REASONING_PARSERS[known]


def framing(tool: ToolFormat | None, reasoning: ReasoningFormat | None) -> MessageFraming | None:
    """Returns the framing of outputs that consist of messages, None where they don't."""
    if isinstance(tool, FramedCalls):
        return tool.framing
    return reasoning if isinstance(reasoning, MessageFraming) else None


def go_together(tool: ToolFormat | None, reasoning: ReasoningFormat | None) -> bool:
    """Tells whether both formats can be in one output."""
    framed = framing(tool, reasoning)
    if framed is None or tool is None or reasoning is None:
        return True
    return isinstance(tool, FramedCalls) and reasoning == framed


def needed_special_tokens(
    tool: ToolFormat | None, reasoning: ReasoningFormat | None, special: Collection[str]
) -> frozenset[str]:
    """Returns those of a vocabulary's `special` tokens, by their texts, that must be left in the text for these
    formats."""
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
    """Returns how reasoning is ended, behind a last message; None where it isn't between two tags."""
    return reasoning.closing(message) if isinstance(reasoning, ReasoningTags) else None


def ends_in_thinking(reasoning: ReasoningFormat | None, prompt: str) -> bool:
    """Tells whether a prompt lets the output begin within the reasoning."""
    match reasoning:
        case ReasoningTags(start, _, title):
            return prompt.rstrip().endswith((start, (start + title).rstrip()))
        case MessageFraming(thinking=header):
            return prompt.rstrip().endswith(header.strip())
    return False
