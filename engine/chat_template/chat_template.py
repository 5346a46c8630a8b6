"""A chat template with its capabilities: it takes a conversation and returns a prompt."""

from collections.abc import Callable, Mapping
from typing import Any

from specvino.engine.chat_template import messages
from specvino.engine.chat_template.capabilities import Capabilities, read_capabilities
from specvino.engine.chat_template.messages import Mark, WriteCall
from specvino.engine.chat_template.template import Template, TemplateRefusal
from specvino.engine.request import Conversation
from specvino.engine.segments import Hidden

# A template may put two texts next to each other, where the first ends with a seam and the second begins with one.
_SEAMS = 3

# Follows the mark. If the template trims the end of messages, the text before the mark is trimmed.
_SPACE = " "


class ChatTemplate:
    """A compiled template and its capabilities. `tokens` are as in `Template`. Raises TemplateRefusal for a text that
    isn't a template."""

    def __init__(self, text: str, tokens: Mapping[str, str] | None = None) -> None:
        self.text = text
        self.template = Template(text, tokens)
        self.capabilities: Capabilities = read_capabilities(self.template)

    def hidden(self, prompt: Conversation) -> tuple[Hidden, ...]:
        """Returns the parts of a conversation that the template doesn't render."""
        return messages.hidden(self.capabilities, prompt)

    def render(
        self,
        prompt: Conversation,
        mark: Mark,
        seam: str,
        image: Callable[[int], str],
        write_call: WriteCall | None = None,
    ) -> str:
        """Returns the prompt. `mark`, `image` and `write_call` are as in `messages.turns`; `seam` is a character that
        occurs in none of the conversation's texts. Raises TemplateRefusal."""
        turns = messages.turns(prompt, self.capabilities, mark, image, write_call)
        variables = messages.variables(prompt, mark)
        add_generation_prompt = variables.pop("add_generation_prompt", True)
        if prompt.continue_final_message:
            add_generation_prompt = False
            mark_end(turns[-1], seam)
        tools = messages.tools(prompt, mark)
        try:
            rendered = self.template.render(
                turns, tools, add_generation_prompt=add_generation_prompt, variables=variables
            )
        except TemplateRefusal as error:
            raise TemplateRefusal(str(error).replace(seam, "")) from None
        return cut_at_mark(rendered, seam) if prompt.continue_final_message else rendered


def mark_end(turn: dict[str, Any], seam: str) -> None:
    """Marks the end of a turn's content, so that the answer can continue it. Chat templates close every message, so the
    text after the mark is cut off (`cut_at_mark`). `seam` is a character that occurs in none of the conversation's
    texts.
    """
    if isinstance(turn["content"], list):
        turn["content"][-1]["text"] += seam * _SEAMS + _SPACE
    else:
        turn["content"] = (turn["content"] or "") + seam * _SEAMS + _SPACE


def cut_at_mark(rendered: str, seam: str) -> str:
    """Returns the prompt up to the mark. Raises TemplateRefusal if the template didn't write the mark."""
    at = rendered.rfind(seam * _SEAMS)
    if at < 0:
        raise TemplateRefusal("It doesn't write the last message unchanged, so the message can't be continued.")
    opened = rendered[:at]
    return opened if rendered.startswith(_SPACE, at + _SEAMS) else opened.rstrip()
