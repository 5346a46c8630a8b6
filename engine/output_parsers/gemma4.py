"""`<|tool_call>call:f{k:<|"|>text<|"|>,n:42}<tool_call|>`, several calls in one block: Gemma 4."""

from collections.abc import Sequence
from typing import Any

from specvino.engine.grammar.structural_tags.builders import (
    ANY_TEXT,
    Grammar,
    json_schema,
    listed,
    plain_string,
    tag,
    tags,
)
from specvino.engine.output_parsers.pieces import CallStart
from specvino.engine.output_parsers.python_literals import PythonLiterals
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = "<|tool_call>"
END = "<tool_call|>"
QUOTE = '<|"|>'
MARKERS = (START, END, QUOTE)

# Text in ordinary quotes is read too: it is what a forced call's nested values are written in.
PYTHON_LITERALS = PythonLiterals(quotes=('"',), raw_quotes=(QUOTE,))


def parse(source: TextSource, tools: Tools) -> Step[None]:
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        if (yield from _call(source, tools)):
            while True:
                yield from source.blank()
                yield from source.literal(",")
                if not (yield from _call(source, tools)):
                    break
            yield from source.closing(END)
        else:
            yield from source.give_up(len(START))


def _call(source: TextSource, tools: Tools) -> Step[bool]:
    heads = {f"call:{name}{{": name for name in tools}
    yield from source.blank()
    head = yield from source.one_of(tuple(heads))
    if head is None:
        return False
    yield CallStart(heads[head])
    yield from PYTHON_LITERALS.arguments(source, ":", "}")
    return True


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    calls = [listed(tool.parameters, f"call:{tool.name}{{", "}", ":", ",", _value) for tool in tools]
    return tag(START, tags(calls, "", many), END)


def _value(schema: Any) -> Grammar:
    """Returns the grammar of a value: free text in the format's own quotes; everything else is JSON, which is read
    too."""
    return tag(QUOTE, ANY_TEXT, QUOTE) if plain_string(schema) == ANY_TEXT else json_schema(schema)
