"""The formats, parsers and grammars of Specvino that the oracle checks."""

from typing import Any

from specvino.engine.chat_template.shown_formats import read_formats
from specvino.engine.chat_template.template import Template
from specvino.engine.output_parsers import OutputParser, ends_in_thinking, forced_call_grammar, parser_for
from specvino.engine.output_parsers.selection import SelectedParsers, select_parsers
from templates.tools import FUNCTIONS


def formats_of(template: Template) -> SelectedParsers:
    """Returns the formats of calls and reasoning that a template shows."""
    return select_parsers(read_formats(template), None, None)


def parser_after(prompt: str, formats: SelectedParsers) -> OutputParser:
    """Returns a parser of a model's output for a prompt."""
    return parser_for(formats.tool, formats.reasoning, FUNCTIONS, ends_in_thinking(formats.reasoning, prompt))


def forced_after(prompt: str, formats: SelectedParsers, parallel: bool) -> dict[str, Any]:
    """Returns the structural tag of forced calls after a prompt."""
    thinking = ends_in_thinking(formats.reasoning, prompt)
    assert formats.tool is not None
    return forced_call_grammar(formats.tool, FUNCTIONS, parallel, formats.reasoning, thinking)
