"""What models write around their answers: calls in eleven formats, reasoning in six.

`parser_for` makes a parser of one output's text, `forced` a grammar that a call has to follow, `detect` finds the
formats in a chat template, `needs_special_tokens` says what the detokenizer must not leave out for them.
"""

from specvino.engine.formats.detect import detect
from specvino.engine.formats.forcing import forced, thoughtful, unsaid
from specvino.engine.formats.parser import OutputParser, parser_for
from specvino.engine.formats.pieces import CallArguments, CallEnd, CallStart, Piece, Reasoning, Text
from specvino.engine.formats.registry import (
    FRAMINGS,
    REASONING_FORMATS,
    TOOL_FORMATS,
    check,
    ends_in_thinking,
    needs_special_tokens,
)
from specvino.engine.formats.tools import Tool

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
    "unsaid",
]
