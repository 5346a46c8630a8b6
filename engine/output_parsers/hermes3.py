"""`<tool_call>{"name": "f", "arguments": {…}}</tool_call>`, one element for each call: Hermes 3, Qwen 2.5 and 3."""

from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, tags
from specvino.engine.output_parsers import json_calls
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = "<tool_call>"
END = "</tool_call>"
MARKERS = (START, END)


def parse(source: TextSource, tools: Tools) -> Step[None]:
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        yield from source.blank()
        if (yield from json_calls.call(source, tools)):
            yield from source.closing(END)
        else:
            yield from source.give_up(len(START))


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    return tags(json_calls.call_tags(tools, "arguments", START + "\n", "\n" + END), "\n", many)
