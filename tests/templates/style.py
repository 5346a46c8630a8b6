"""The form of a conversation with calls that a template expects, detected by rendering one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specvino.engine.chat_template.template import Template, TemplateRefusal
from templates.tools import TOOLS

# The variables of special tokens that templates use. None of them marks a call.
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}

Turn = dict[str, Any]


@dataclass(frozen=True)
class Call:
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Style:
    """`json_arguments` means that the arguments of calls are JSON text, not objects."""

    json_arguments: bool = False

    def assistant(self, calls: Sequence[Call] = (), content: str = "", reasoning: str = "") -> Turn:
        """Returns an assistant's turn, with the reasoning under all keys that templates know."""
        turn: Turn = {"role": "assistant", "content": content}
        if reasoning:
            turn |= dict.fromkeys(("reasoning_content", "reasoning", "thinking"), reasoning)
        if calls:
            turn["tool_calls"] = [self._call(call, number) for number, call in enumerate(calls)]
        return turn

    def result(self, call: Call, number: int, content: str) -> Turn:
        """Returns the turn of a tool's result; `number` is that of its call in the turn before."""
        return {"role": "tool", "content": content, "name": call.name, "tool_call_id": _id(number)}

    def _call(self, call: Call, number: int) -> Turn:
        text = json.dumps(call.arguments, ensure_ascii=False)
        function = {"name": call.name, "arguments": text if self.json_arguments else dict(call.arguments)}
        return {"id": _id(number), "type": "function", "function": function}


def _id(number: int) -> str:
    return f"call{number:05}"  # nine letters and digits, which Mistral's templates require


_NEEDLE = Call("seek_it", {"text": "needle"})  # a name that no template contains


def style_of(template: Template) -> Style | None:
    """Returns the form of calls that a template expects; None if it shows none."""
    for style in (Style(), Style(json_arguments=True)):
        messages = [{"role": "user", "content": "x"}, style.assistant([_NEEDLE])]
        try:
            shown = template.render(messages, TOOLS, add_generation_prompt=False)
        except TemplateRefusal:
            continue
        if _NEEDLE.name in shown and "needle" in shown and '\\"needle' not in shown:
            return style
    return None


def tools_shown(template: Template) -> bool:
    """Returns whether the template shows a request's tools."""
    try:
        return "get_weather" in template.render([{"role": "user", "content": "x"}], TOOLS)
    except TemplateRefusal:
        return False
