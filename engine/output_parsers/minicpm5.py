"""`<function name="f"><param name="k">v</param></function>`: MiniCPM5."""

from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, tags
from specvino.engine.output_parsers.markup import Markup
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = '<function name="'
MARKERS = ("<function", "</function>", "<param", "</param>")

MARKUP = Markup(call=(START, '">'), call_end="</function>", parameter=('<param name="', '">'), parameter_end="</param>")


def parse(source: TextSource, tools: Tools) -> Step[None]:
    while (yield from source.pieces_until((START,))):
        if not (yield from MARKUP.read(source, tools)):
            yield from source.give_up(len(START))


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    return tags([MARKUP.forced_call_grammar(tool) for tool in tools], "\n", many)
