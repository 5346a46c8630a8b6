"""`{"name": "f", "parameters": {…}}`, several separated by `;`: Llama 3.1 and 3.2.

They come after `<|python_tag|>`, or are the whole output. Code after the tag, and a JSON answer, are text.
"""

from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, tags
from specvino.engine.output_parsers import json_calls
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = "<|python_tag|>"
MARKERS = (START,)


def parse(source: TextSource, tools: Tools) -> Step[None]:
    yield from source.blank()
    yield from _calls(source, tools)
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        yield from source.blank()
        if not (yield from _calls(source, tools)):
            yield from source.give_up(len(START))


def _calls(source: TextSource, tools: Tools) -> Step[bool]:
    found = False
    while (yield from json_calls.call(source, tools)):
        found = True
        yield from source.blank()
        yield from source.literal(";")
        yield from source.blank()
    source.at = 0
    return found


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    return tags(json_calls.call_tags(tools, "parameters"), "; ", many)
