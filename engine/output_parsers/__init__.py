"""Parsers of model output: tool calls and reasoning.

A format is data (`CallFormat`, `ReasoningTags`), derived from a model's chat template or chosen by name. From a format,
`parser_for` makes a parser of one output, `forced_call_grammar` a grammar that constrains calls, and
`needed_special_tokens` the special tokens that the detokenizer must keep.
"""

from specvino.engine.output_parsers.call_format import Tool
from specvino.engine.output_parsers.call_grammar import (
    forced_call_grammar,
    held_call_grammar,
    unenforceable_keywords,
    with_reasoning,
)
from specvino.engine.output_parsers.formats import (
    ReasoningFormat,
    ShownFormats,
    ToolFormat,
    closing_of_thinking,
    ends_in_thinking,
    framing,
    go_together,
    needed_special_tokens,
)
from specvino.engine.output_parsers.named_formats import (
    MESSAGE_FRAMINGS,
    REASONING_PARSERS,
    TOOL_PARSERS,
    reasoning_format,
    tool_format,
)
from specvino.engine.output_parsers.parser import OutputParser, parser_for
from specvino.engine.output_parsers.pieces import AnswerText, CallArguments, CallEnd, CallStart, Piece, ReasoningText

__all__ = [
    "MESSAGE_FRAMINGS",
    "REASONING_PARSERS",
    "TOOL_PARSERS",
    "AnswerText",
    "CallArguments",
    "CallEnd",
    "CallStart",
    "OutputParser",
    "Piece",
    "ReasoningFormat",
    "ReasoningText",
    "ShownFormats",
    "Tool",
    "ToolFormat",
    "closing_of_thinking",
    "ends_in_thinking",
    "forced_call_grammar",
    "framing",
    "go_together",
    "held_call_grammar",
    "needed_special_tokens",
    "parser_for",
    "reasoning_format",
    "tool_format",
    "unenforceable_keywords",
    "with_reasoning",
]
