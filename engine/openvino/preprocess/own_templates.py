"""A model's own chat templates, compiled once."""

import json
from collections.abc import Collection, Mapping

from specvino.engine.chat_template.capabilities import Capabilities
from specvino.engine.chat_template.chat_template import ChatTemplate
from specvino.engine.chat_template.files import TemplateTexts
from specvino.engine.chat_template.messages import arguments
from specvino.engine.chat_template.shown_formats import read_formats
from specvino.engine.chat_template.template import TemplateRefusal
from specvino.engine.output_parsers.call_format import CallFormat
from specvino.engine.output_parsers.call_grammar import call_text
from specvino.engine.output_parsers.formats import ShownFormats
from specvino.engine.request import Conversation, ToolCall


class OwnTemplates:
    """The chat templates of a model, which may have none, and their `formats`. `tokens` are as for `Template`,
    `special` are the texts of the vocabulary's special tokens. Without a valid template, conversations are rejected,
    but completions work.
    """

    def __init__(self, texts: TemplateTexts, tokens: Mapping[str, str], special: Collection[str] = ()) -> None:
        self._default = _compiled(texts.default, tokens)
        self._tool_use = self._default if texts.tool_use is None else _compiled(texts.tool_use, tokens)
        self.shown = texts.default if texts.tool_use is None else texts.tool_use
        self.formats = ShownFormats()
        if isinstance(self._tool_use, ChatTemplate):
            self.formats = read_formats(self._tool_use.template, special)

    @property
    def capabilities(self) -> Capabilities | None:
        """Returns the capabilities of the template for conversations with tools, None if there is no valid one."""
        return self._tool_use.capabilities if isinstance(self._tool_use, ChatTemplate) else None

    def write_call(self, call: ToolCall) -> str:
        """Returns a call in the model's format, for a template that renders none. It is JSON if the format is unknown,
        or if the arguments aren't an object, which no format supports.
        """
        parsed = arguments(call)
        if not isinstance(parsed, dict) or not isinstance(self.formats.tool, CallFormat):
            return json.dumps({"name": call.name, "arguments": parsed}, ensure_ascii=False)
        begin, end = self.formats.tool.section
        return begin + call_text(self.formats.tool, call.name, parsed, call.id) + end

    @property
    def refusal(self) -> str:
        """Returns why the template can't be compiled; empty if it can, or if there is none."""
        return self._tool_use if self.shown and isinstance(self._tool_use, str) else ""

    def of(self, prompt: Conversation) -> ChatTemplate:
        """Returns the template for a conversation. Raises TemplateRefusal."""
        template = self._tool_use if prompt.tools else self._default
        if isinstance(template, str):
            raise TemplateRefusal(template)
        return template


def _compiled(text: str, tokens: Mapping[str, str]) -> ChatTemplate | str:
    """Returns a compiled template, or the reason why there is none."""
    if not text:
        return "The model has no chat template."
    try:
        return ChatTemplate(text, tokens)
    except TemplateRefusal as error:
        return str(error)
