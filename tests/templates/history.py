"""An assistant's turn as a template writes it in the history, which is what the model was trained to output."""

import re
from dataclasses import dataclass
from typing import Any

from specvino.engine.chat_template.template import Template
from templates.style import Call, Style
from templates.tools import TOOLS
from templates.turns import Turn

_ASKED = "What is asked of you?"
_ANSWERS = ("Yes, of course.", "No, not today.")

# Tags that end turns with calls in some templates, unlike answers. Models stop there.
_ENDS = ("<|eom_id|>", "<|call|>", "<|calls|>", "<|tool_response>", "<｜hy_eos:opensource｜>")

_TAG = re.compile(r"<[^<>]+>")
_HALF_TAG = re.compile(r"[<\[][^<>\[\]]*\Z")


class NotWritten(ValueError):
    """The template doesn't write the turn after the prompt that it renders for it."""


@dataclass(frozen=True)
class Written:
    """`text` is the expected output of a model for `prompt`."""

    prompt: str
    text: str


class History:
    """Renders turns after one question, for which thinking may be enabled."""

    def __init__(self, template: Template, style: Style, thinking: bool = False) -> None:
        self._template = template
        self._style = style
        self._variables = {"enable_thinking": True, "thinking": True} if thinking else {}
        self._prompt = self._render()
        self._answered = [self._render(style.assistant(content=answer)) for answer in _ANSWERS]
        end = self._answered[0].rpartition(_ANSWERS[0])[2]
        self._ends = [*filter(None, [end.strip()]), *_TAG.findall(end), *_ENDS]

    def full(self, turn: Turn) -> str:
        """Returns the complete history. Raises TemplateRefusal."""
        return self._render(self._style.assistant(turn.calls, turn.content, turn.reasoning))

    def written(self, turn: Turn) -> Written:
        """Returns a turn with its prompt. Raises NotWritten, and TemplateRefusal."""
        full = self.full(turn)
        # A prompt may end with the beginning of reasoning that the history doesn't have.
        common = _common([self._prompt, full])
        if common != self._prompt:
            common = _HALF_TAG.sub("", _common([common, *self._answered]))
        if _ASKED not in common:
            raise NotWritten("the history doesn't continue the prompt")
        text = self._ended(full[len(common) :], turn.calls[-1].name)
        # Or the history has only the end of the reasoning that the prompt begins.
        begun = self._prompt[len(common) :].strip()
        ends = begun.startswith("<") and text.lstrip().startswith(begun.replace("<", "</", 1))
        return Written(self._prompt if ends else common, text)

    def _ended(self, text: str, name: str) -> str:
        """Returns the text up to where the model would end it: at the first tag that ends turns after the name of the
        last tool. Reasoning may end with the same tag."""
        ends = {text.rfind(end, max(0, text.rfind(name))) for end in self._ends} - {-1}
        return text[: min(ends)] if ends else text

    def around(self) -> tuple[str, str]:
        """Returns the texts around a call: from the turn's beginning to the tool's name, and from the last argument's
        value to the turn's end."""
        text = self.written(Turn([Call("note", {"text": "needle"})])).text
        return text.partition("note")[0], text.rpartition("needle")[2]

    def _render(self, *turns: dict[str, Any]) -> str:
        messages = [{"role": "user", "content": _ASKED}, *turns]
        return self._template.render(messages, TOOLS, add_generation_prompt=not turns, variables=self._variables)


def _common(texts: list[str]) -> str:
    """Returns the common prefix of all texts, which is that of the first and the last in sorted order."""
    first, last = min(texts), max(texts)
    return first[
        : next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    ]
