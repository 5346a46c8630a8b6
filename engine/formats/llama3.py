"""`{"name": "f", "parameters": {…}}`, several separated by `;`: Llama 3.1 and 3.2.

They come after `<|python_tag|>`, or are the whole output. Code after the tag, and a JSON answer, are text.
"""

from collections.abc import Sequence

from specvino.engine.formats import envelope
from specvino.engine.formats.grammar import Grammar, json_calls, tags
from specvino.engine.formats.source import Source, Step
from specvino.engine.formats.tools import Tool, Tools

START = "<|python_tag|>"
MARKERS = (START,)


def parse(source: Source, tools: Tools) -> Step[None]:
    yield from source.blank()
    yield from _calls(source, tools)
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        yield from source.blank()
        if not (yield from _calls(source, tools)):
            yield from source.give_up(len(START))


def _calls(source: Source, tools: Tools) -> Step[bool]:
    found = False
    while (yield from envelope.call(source, tools)):
        found = True
        yield from source.blank()
        yield from source.literal(";")
        yield from source.blank()
    source.at = 0
    return found


def forced(tools: Sequence[Tool], many: bool) -> Grammar:
    return tags(json_calls(tools, "parameters"), "; ", many)
