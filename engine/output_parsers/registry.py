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
from specvino.engine.output_parsers.message_framing import Framing
from specvino.engine.output_parsers.reasoning_tags import GEMMA4, THINK, Tags
from specvino.engine.output_parsers.text_source import Source, Step
from specvino.engine.output_parsers.tools import Tool, Tools


@dataclass(frozen=True)
class ToolFormat:
    """`markers` are the texts of tokens that a vocabulary may hold as control tokens; they must not be left out.

    `parse` is None for a format that frames the whole output. `one_by_one`: it has no JSON object for the arguments.
    """

    markers: Sequence[str]
    parse: Callable[[Source, Tools], Step[None]] | None
    forced: Callable[[Sequence[Tool], bool], Grammar]
    one_by_one: bool = False


TOOL_FORMATS = {
    "hermes3": ToolFormat(hermes3.MARKERS, hermes3.parse, hermes3.forced),
    "llama3": ToolFormat(llama3.MARKERS, llama3.parse, llama3.forced),
    "phi4": ToolFormat(phi4.MARKERS, phi4.parse, phi4.forced),
    "mistral": ToolFormat(mistral.MARKERS, mistral.parse, mistral.forced),
    "gptoss": ToolFormat(gptoss.MARKERS, None, gptoss.forced),
    "qwen3coder": ToolFormat(qwen3coder.MARKERS, qwen3coder.parse, qwen3coder.forced, one_by_one=True),
    "devstral": ToolFormat(devstral.MARKERS, devstral.parse, devstral.forced),
    "lfm2": ToolFormat(lfm2.MARKERS, lfm2.parse, lfm2.forced, one_by_one=True),
    "gemma4": ToolFormat(gemma4.MARKERS, gemma4.parse, gemma4.forced, one_by_one=True),
    "onyx": ToolFormat(onyx.MARKERS, None, onyx.forced, one_by_one=True),
    "minicpm5": ToolFormat(minicpm5.MARKERS, minicpm5.parse, minicpm5.forced, one_by_one=True),
}
REASONING_FORMATS: dict[str, Tags | Framing] = {
    "qwen3": THINK,
    "gptoss": gptoss.FRAMING,
    "gemma4": GEMMA4,
    "lfm2": THINK,
    "minicpm5": THINK,
    "onyx": onyx.FRAMING,
}
FRAMINGS = {"gptoss": gptoss.FRAMING, "onyx": onyx.FRAMING}


def check(tool_format: str | None, reasoning_format: str | None) -> None:
    """Raises ValueError for an unknown name, or two formats that can't be in one output."""
    if tool_format is not None and tool_format not in TOOL_FORMATS:
        raise ValueError(f"unknown tool format {tool_format!r}: it is one of {', '.join(TOOL_FORMATS)}")
    if reasoning_format is not None and reasoning_format not in REASONING_FORMATS:
        raise ValueError(f"unknown reasoning format {reasoning_format!r}: it is one of {', '.join(REASONING_FORMATS)}")
    framed = {name for name in (tool_format, reasoning_format) if name in FRAMINGS}
    if framed and tool_format is not None and reasoning_format is not None and tool_format != reasoning_format:
        raise ValueError(f"tool format {tool_format!r} and reasoning format {reasoning_format!r} don't go together")


def needs_special_tokens(tool_format: str | None, reasoning_format: str | None) -> frozenset[str]:
    """The texts of the control tokens that must be left in the text for these formats; all others may be left out.

    A vocabulary may have some of them as ordinary tokens, or not at all.
    """
    check(tool_format, reasoning_format)
    markers: set[str] = set()
    if tool_format is not None:
        markers.update(TOOL_FORMATS[tool_format].markers)
    match REASONING_FORMATS.get(reasoning_format or ""):
        case Tags(start, end):
            markers.update((start, end))
        case Framing(starts, body, ends):
            markers.update((*starts, body, *ends))
    if reasoning_format == "gptoss":
        markers.update(gptoss.MARKERS)
    return frozenset(markers)


def ends_in_thinking(reasoning_format: str | None, prompt: str) -> bool:
    """Whether a prompt lets the output begin within the reasoning."""
    match REASONING_FORMATS.get(reasoning_format or ""):
        case Tags(start, _, title):
            return prompt.rstrip().endswith((start, (start + title).rstrip()))
        case Framing(thinking=header):
            return prompt.rstrip().endswith(header.strip())
    return False
