"""`<tool_call><function=f><parameter=k>v</parameter>…</function></tool_call>`: Qwen3-Coder, Qwen3.5.

Models forget the outer element's start tag, so it is optional.
"""

from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, tags
from specvino.engine.output_parsers.markup import Markup
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

START = "<tool_call>"
END = "</tool_call>"
FUNCTION = "<function="
MARKERS = (START, END)

MARKUP = Markup(
    call=(FUNCTION, ">"),
    call_end="</function>",
    parameter=("<parameter=", ">"),
    parameter_end="</parameter>",
    newline=True,
)


def parse(source: TextSource, tools: Tools) -> Step[None]:
    while marker := (yield from source.pieces_until((START, FUNCTION))):
        if marker == START:
            source.at = len(START)
            yield from source.blank()
        if (yield from MARKUP.read(source, tools)):
            yield from source.closing(END)
        else:
            yield from source.give_up(len(marker))


def forced_call_grammar(tools: Sequence[Tool], many: bool) -> Grammar:
    return tags([MARKUP.forced_call_grammar(tool, START + "\n", "\n" + END) for tool in tools], "\n", many)
