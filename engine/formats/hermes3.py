"""`<tool_call>{"name": "f", "arguments": {…}}</tool_call>`, one element for each call: Hermes 3, Qwen 2.5 and 3."""

from collections.abc import Sequence

from specvino.engine.formats import envelope
from specvino.engine.formats.grammar import Grammar, json_calls, tags
from specvino.engine.formats.source import Source, Step
from specvino.engine.formats.tools import Tool, Tools

START = "<tool_call>"
END = "</tool_call>"
MARKERS = (START, END)


def parse(source: Source, tools: Tools) -> Step[None]:
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        yield from source.blank()
        if (yield from envelope.call(source, tools)):
            yield from source.closing(END)
        else:
            yield from source.give_up(len(START))


def forced(tools: Sequence[Tool], many: bool) -> Grammar:
    return tags(json_calls(tools, "arguments", START + "\n", "\n" + END), "\n", many)
