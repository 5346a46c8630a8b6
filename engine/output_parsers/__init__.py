"""What models write around their answers: calls in eleven formats, reasoning in six.

`parser_for` makes a parser of one output's text, `forced` a grammar that a call has to follow, `detect` finds the
formats in a chat template, `needs_special_tokens` says what the detokenizer must not leave out for them.
"""

from specvino.engine.output_parsers.detect import detect
from specvino.engine.output_parsers.forced_calls import forced, thoughtful, unenforceable_keywords
from specvino.engine.output_parsers.parser import OutputParser, parser_for
from specvino.engine.output_parsers.pieces import CallArguments, CallEnd, CallStart, Piece, Reasoning, Text
from specvino.engine.output_parsers.registry import (
    FRAMINGS,
    REASONING_FORMATS,
    TOOL_FORMATS,
    check,
    ends_in_thinking,
    needs_special_tokens,
)
from specvino.engine.output_parsers.tools import Tool

__all__ = [
    "FRAMINGS",
    "REASONING_FORMATS",
    "TOOL_FORMATS",
    "CallArguments",
    "CallEnd",
    "CallStart",
    "OutputParser",
    "Piece",
    "Reasoning",
    "Text",
    "Tool",
    "check",
    "detect",
    "ends_in_thinking",
    "forced",
    "needs_special_tokens",
    "parser_for",
    "thoughtful",
    "unenforceable_keywords",
]
