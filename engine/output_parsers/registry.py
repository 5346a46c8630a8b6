"""The formats by their names, and which of them go together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from specvino.engine.grammar.structural_tags.builders import Grammar
from specvino.engine.output_parsers import (
    devstral,
    gemma4,
    gptoss,
    hermes3,
    lfm2,
    llama3,
    minicpm5,
    mistral,
    onyx,
    phi4,
    qwen3coder,
)
from specvino.engine.output_parsers.message_framing import MessageFraming
from specvino.engine.output_parsers.reasoning_tags import GEMMA4, THINK, ReasoningTags
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools


@dataclass(frozen=True)
class ToolParser:
    """Is a format of tool calls. `markers` are the texts of tokens that a vocabulary may hold as control tokens; they
    must not be left out.

    `parse` is None for a format that frames the whole output. `one_by_one` says that it has no JSON object for the
    arguments. No call comes without `trigger`, a text that says nothing else; None where there is none.
    """

    markers: Sequence[str]
    parse: Callable[[TextSource, Tools], Step[None]] | None
    forced_call_grammar: Callable[[Sequence[Tool], bool], Grammar]
    one_by_one: bool = False
    trigger: str | None = None


TOOL_PARSERS = {
    "hermes3": ToolParser(hermes3.MARKERS, hermes3.parse, hermes3.forced_call_grammar, trigger=hermes3.START),
    "llama3": ToolParser(llama3.MARKERS, llama3.parse, llama3.forced_call_grammar),
    "phi4": ToolParser(phi4.MARKERS, phi4.parse, phi4.forced_call_grammar, trigger=phi4.START + "["),
    "mistral": ToolParser(mistral.MARKERS, mistral.parse, mistral.forced_call_grammar),
    "gptoss": ToolParser(gptoss.MARKERS, None, gptoss.forced_call_grammar),
    "qwen3coder": ToolParser(
        qwen3coder.MARKERS,
        qwen3coder.parse,
        qwen3coder.forced_call_grammar,
        one_by_one=True,
        trigger=qwen3coder.FUNCTION,
    ),
    "devstral": ToolParser(devstral.MARKERS, devstral.parse, devstral.forced_call_grammar, trigger=devstral.START),
    "lfm2": ToolParser(lfm2.MARKERS, lfm2.parse, lfm2.forced_call_grammar, one_by_one=True, trigger=lfm2.START),
    "gemma4": ToolParser(
        gemma4.MARKERS, gemma4.parse, gemma4.forced_call_grammar, one_by_one=True, trigger=gemma4.START
    ),
    "onyx": ToolParser(onyx.MARKERS, None, onyx.forced_call_grammar, one_by_one=True),
    "minicpm5": ToolParser(
        minicpm5.MARKERS, minicpm5.parse, minicpm5.forced_call_grammar, one_by_one=True, trigger=minicpm5.START
    ),
}
REASONING_PARSERS: dict[str, ReasoningTags | MessageFraming] = {
    "qwen3": THINK,
    "gptoss": gptoss.FRAMING,
    "gemma4": GEMMA4,
    "lfm2": THINK,
    "minicpm5": THINK,
    "onyx": onyx.FRAMING,
}
MESSAGE_FRAMINGS = {"gptoss": gptoss.FRAMING, "onyx": onyx.FRAMING}


def check(tool_parser: str | None, reasoning_parser: str | None) -> None:
    """Raises ValueError for an unknown name, or two formats that can't be in one output."""
    if tool_parser is not None and tool_parser not in TOOL_PARSERS:
        raise ValueError(f"unknown tool format {tool_parser!r}: it is one of {', '.join(TOOL_PARSERS)}")
    if reasoning_parser is not None and reasoning_parser not in REASONING_PARSERS:
        raise ValueError(f"unknown reasoning format {reasoning_parser!r}: it is one of {', '.join(REASONING_PARSERS)}")
    framed = {name for name in (tool_parser, reasoning_parser) if name in MESSAGE_FRAMINGS}
    if framed and tool_parser is not None and reasoning_parser is not None and tool_parser != reasoning_parser:
        raise ValueError(f"tool format {tool_parser!r} and reasoning format {reasoning_parser!r} don't go together")


def needed_special_tokens(tool_parser: str | None, reasoning_parser: str | None) -> frozenset[str]:
    """Returns the texts of the control tokens that must be left in the text for these formats; all others may be left
    out.

    A vocabulary may have some of them as ordinary tokens, or not at all.
    """
    check(tool_parser, reasoning_parser)
    markers: set[str] = set()
    if tool_parser is not None:
        markers.update(TOOL_PARSERS[tool_parser].markers)
    match REASONING_PARSERS.get(reasoning_parser or ""):
        case ReasoningTags(start, end):
            markers.update((start, end))
        case MessageFraming(starts, body, ends):
            markers.update((*starts, body, *ends))
    if reasoning_parser == "gptoss":
        markers.update(gptoss.MARKERS)
    return frozenset(markers)


def closing_of_thinking(reasoning_parser: str | None, message: str = "") -> str | None:
    """Returns how reasoning is ended, behind a last message; None where it isn't between two tags."""
    tags = REASONING_PARSERS.get(reasoning_parser or "")
    return tags.closing(message) if isinstance(tags, ReasoningTags) else None


def ends_in_thinking(reasoning_parser: str | None, prompt: str) -> bool:
    """Tells whether a prompt lets the output begin within the reasoning."""
    match REASONING_PARSERS.get(reasoning_parser or ""):
        case ReasoningTags(start, _, title):
            return prompt.rstrip().endswith((start, (start + title).rstrip()))
        case MessageFraming(thinking=header):
            return prompt.rstrip().endswith(header.strip())
    return False
