"""Parsers of what models write around their answers: tool calls in eleven formats, reasoning in six. One module per
model format.

`parser_for` makes a parser of one output's text, `forced_call_grammar` a grammar that a call has to follow, `detect`
finds the formats in a chat template, `needed_special_tokens` says what the detokenizer must not leave out for them.
"""

from specvino.engine.output_parsers.detect import detect
from specvino.engine.output_parsers.forced_calls import (
    forced_call_grammar,
    held_call_grammar,
    unenforceable_keywords,
    with_reasoning,
)
from specvino.engine.output_parsers.parser import OutputParser, parser_for
from specvino.engine.output_parsers.pieces import AnswerText, CallArguments, CallEnd, CallStart, Piece, ReasoningText
from specvino.engine.output_parsers.registry import (
    MESSAGE_FRAMINGS,
    REASONING_PARSERS,
    TOOL_PARSERS,
    check,
    closing_of_thinking,
    ends_in_thinking,
    needed_special_tokens,
)
from specvino.engine.output_parsers.tools import Tool

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
    "ReasoningText",
    "Tool",
    "check",
    "closing_of_thinking",
    "detect",
    "ends_in_thinking",
    "forced_call_grammar",
    "held_call_grammar",
    "needed_special_tokens",
    "parser_for",
    "unenforceable_keywords",
    "with_reasoning",
]
