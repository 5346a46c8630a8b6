"""`functools[{"name": "f", "arguments": {…}}, …]`: Phi-4-mini."""

from collections.abc import Sequence

from specvino.engine.formats import envelope
from specvino.engine.formats.grammar import Grammar, json_calls, tag, tags
from specvino.engine.formats.source import Source, Step
from specvino.engine.formats.tools import Tool, Tools

START = "functools"
MARKERS: tuple[str, ...] = ()


def parse(source: Source, tools: Tools) -> Step[None]:
    while (yield from source.pieces_until((START + "[",))):
        source.at = len(START)
        if not (yield from envelope.array(source, tools)):
            yield from source.give_up(len(START))


def forced(tools: Sequence[Tool], many: bool) -> Grammar:
    return tag(START + "[", tags(json_calls(tools, "arguments"), ", ", many), "]")
