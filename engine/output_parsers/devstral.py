"""`[TOOL_CALLS]f[ARGS]{…}`: Devstral, Mistral Small 3."""

from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, tag, tags
from specvino.engine.grammar.structural_tags.builders import json_object as object_grammar
from specvino.engine.output_parsers.json_scanner import json_object
from specvino.engine.output_parsers.pieces import CallArguments, CallEnd, CallStart
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = "[TOOL_CALLS]"
ARGUMENTS = "[ARGS]"
MARKERS = (START, ARGUMENTS)


def parse(source: TextSource, tools: Tools) -> Step[None]:
    while (yield from source.pieces_until((START,))):
        source.at = len(START)
        if not (yield from _call(source, tools)):
            yield from source.give_up(len(START))


def _call(source: TextSource, tools: Tools) -> Step[bool]:
    heads = {name + ARGUMENTS: name for name in tools}
    yield from source.blank()
    head = yield from source.one_of(tuple(heads))
    if head is None:
        return False
    tool = tools[heads[head]]
    behind = source.at
    yield from source.blank()
    if (yield from source.literal("{")):
        source.at -= 1
        source.drop()
        yield CallStart(tool.name)
        yield CallEnd((yield from json_object(source)))
        return True
    # Nothing at all is written for a tool without parameters; for another one the output may just have been cut here.
    if (tool.parameters or {}).get("properties") or source.at < len(source.rest):
        return False
    source.at = behind
    source.drop()
    yield CallStart(tool.name)
    yield CallArguments("{}")
    yield CallEnd(True)
    return True


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    return tags([tag(START + tool.name + ARGUMENTS, object_grammar(tool.parameters), "") for tool in tools], "", many)
