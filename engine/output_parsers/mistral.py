"""`[TOOL_CALLS] [{"name": "f", "arguments": {…}}, …]`: Mistral 7B v0.3.

The marker may be missing where the output begins with the calls.
"""

from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, tag, tags
from specvino.engine.output_parsers import json_calls
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = "[TOOL_CALLS]"
MARKERS = (START,)


def parse(source: TextSource, tools: Tools) -> Step[None]:
    yield from source.blank()
    if not (yield from json_calls.array(source, tools)):
        source.at = 0
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        yield from source.blank()
        if not (yield from json_calls.array(source, tools)):
            yield from source.give_up(len(START))


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    return tag(START + " [", tags(json_calls.call_tags(tools, "arguments"), ", ", many), "]")
