"""Comparison of two environments' renderings of one conversation."""

from enum import Enum

from specvino.engine.chat_template.template import Template, TemplateRefusal
from templates import independent
from templates.conversations import conversations
from templates.style import TOKENS, Style, style_of


class Compared(Enum):
    SAME = "same"
    REFUSED = "refused by both"
    DIFFERENT = "different"


def compared(text: str, conversation: str) -> Compared:
    """Compares Specvino's rendering of a template with the independent one."""
    template = Template(text, TOKENS)
    given = conversations(style_of(template) or Style())[conversation]
    tools = list(given.tools) or None
    try:
        theirs = independent.rendered(text, given.messages, tools, True, {**TOKENS, **given.variables})
    except Exception:  # whatever a template raises
        theirs = None
    try:
        ours = template.render(given.messages, tools, variables=given.variables)
    except TemplateRefusal:
        ours = None
    if ours != theirs:
        return Compared.DIFFERENT
    return Compared.REFUSED if ours is None else Compared.SAME
