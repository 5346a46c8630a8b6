"""Where the oracle gets what Specvino reads off a template."""

from dataclasses import dataclass
from typing import Any

from specvino.engine.chat_template.template import Template
from specvino.engine.output_parsers import OutputParser, detect, ends_in_thinking, forced_call_grammar, parser_for
from templates.tools import FUNCTIONS


@dataclass(frozen=True)
class Formats:
    tool: Any
    reasoning: Any


def formats_of(template: Template) -> Formats:
    """Returns the formats of calls and of reasoning; None is none."""
    return Formats(*detect(template.text))


def parser_behind(prompt: str, formats: Formats) -> OutputParser:
    """Returns a parser of what a model says behind the prompt."""
    return parser_for(formats.tool, formats.reasoning, FUNCTIONS, ends_in_thinking(formats.reasoning, prompt))


def forced_behind(prompt: str, formats: Formats, parallel: bool) -> dict[str, Any]:
    """Returns the grammar of calls that have to come behind the prompt."""
    thinking = ends_in_thinking(formats.reasoning, prompt)
    return forced_call_grammar(formats.tool, FUNCTIONS, parallel, formats.reasoning, thinking)
