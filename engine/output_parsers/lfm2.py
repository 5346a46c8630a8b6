"""`<|tool_call_start|>[f(a="x", b=42), g()]<|tool_call_end|>`, as in Python: LFM2."""

from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, json_schema, listed, tag, tags
from specvino.engine.output_parsers.pieces import CallStart
from specvino.engine.output_parsers.python_literals import PythonLiterals
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = "<|tool_call_start|>"
END = "<|tool_call_end|>"
MARKERS = (START, END)
PYTHON_LITERALS = PythonLiterals()


def parse(source: TextSource, tools: Tools) -> Step[None]:
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        yield from source.blank()
        if (yield from source.literal("[")) and (yield from _call(source, tools)):
            yield from _more(source, tools)
        else:
            yield from source.give_up(len(START))


def _call(source: TextSource, tools: Tools) -> Step[bool]:
    heads = {name + "(": name for name in tools}
    yield from source.blank()
    head = yield from source.one_of(tuple(heads))
    if head is None:
        return False
    yield CallStart(heads[head])
    yield from PYTHON_LITERALS.arguments(source, "=", ")")
    return True


def _more(source: TextSource, tools: Tools) -> Step[None]:
    while not (yield from source.closing("]")):
        yield from source.blank()
        if not (yield from source.literal(",")) or not (yield from _call(source, tools)):
            source.at = 0
            return
    yield from source.closing(END)


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    """Returns the grammar of calls whose values are JSON, which is read too."""
    calls = [listed(tool.parameters, tool.name + "(", ")", "=", ", ", json_schema) for tool in tools]
    return tag(START + "[", tags(calls, ", ", many), "]" + END)
