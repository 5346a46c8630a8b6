"""A turn of an assistant as a template writes it in the history: what the model is taught to say."""

import re
from dataclasses import dataclass
from typing import Any

from specvino.engine.chat_template.template import Template
from templates.style import Call, Style
from templates.tools import TOOLS
from templates.turns import Turn

_ASKED = "What is asked of you?"
_ANSWERS = ("Yes, of course.", "No, not today.")

# How turns with calls end in some templates, otherwise than answers do. Models stop there.
_ENDS = ("<|eom_id|>", "<|call|>", "<|calls|>", "<|tool_response>", "<｜hy_eos:opensource｜>")

_TAG = re.compile(r"<[^<>]+>")
_HALF_TAG = re.compile(r"[<\[][^<>\[\]]*\Z")


class NotWritten(ValueError):
    """The template doesn't write the turn behind the prompt that it makes for it."""


@dataclass(frozen=True)
class Written:
    """`text` is what a model has to say behind `prompt`."""

    prompt: str
    text: str


class History:
    """Writes turns behind one question, for which thinking may be turned on."""

    def __init__(self, template: Template, style: Style, thinking: bool = False) -> None:
        self._template = template
        self._style = style
        self._variables = {"enable_thinking": True, "thinking": True} if thinking else {}
        self._prompt = self._render()
        self._answered = [self._render(style.assistant(content=answer)) for answer in _ANSWERS]
        end = self._answered[0].rpartition(_ANSWERS[0])[2]
        self._ends = [*filter(None, [end.strip()]), *_TAG.findall(end), *_ENDS]

    def whole(self, turn: Turn) -> str:
        """Returns the whole history. Raises TemplateRefusal."""
        return self._render(self._style.assistant(turn.calls, turn.content, turn.reasoning))

    def written(self, turn: Turn) -> Written:
        """Raises NotWritten, and TemplateRefusal."""
        whole = self.whole(turn)
        # A prompt may end in what begins thinking, where the history has no thoughts.
        common = _common([self._prompt, whole])
        if common != self._prompt:
            common = _HALF_TAG.sub("", _common([common, *self._answered]))
        if _ASKED not in common:
            raise NotWritten("the history isn't written behind the prompt")
        text = self._ended(whole[len(common) :], turn.calls[-1].name)
        # Or the history has the end alone of what the prompt begins.
        begun = self._prompt[len(common) :].strip()
        ends = begun.startswith("<") and text.lstrip().startswith(begun.replace("<", "</", 1))
        return Written(self._prompt if ends else common, text)

    def _ended(self, text: str, name: str) -> str:
        """Returns the text up to where the model would end it: at the first of the tags with which turns end, behind
        the name of the last tool. Reasoning may end as turns do."""
        ends = {text.rfind(end, max(0, text.rfind(name))) for end in self._ends} - {-1}
        return text[: min(ends)] if ends else text

    def around(self) -> tuple[str, str]:
        """Returns the texts in which the template sets a call: from the turn's beginning to the tool's name, and from
        the last argument's value to the turn's end."""
        text = self.written(Turn([Call("note", {"text": "needle"})])).text
        return text.partition("note")[0], text.rpartition("needle")[2]

    def _render(self, *turns: dict[str, Any]) -> str:
        messages = [{"role": "user", "content": _ASKED}, *turns]
        return self._template.render(messages, TOOLS, add_generation_prompt=not turns, variables=self._variables)


def _common(texts: list[str]) -> str:
    """Returns what all texts begin with: what the first and the last of them in order do."""
    first, last = min(texts), max(texts)
    return first[
        : next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    ]
