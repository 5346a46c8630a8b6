"""Conversations as requests have them, one for each thing that templates treat in ways of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from templates.style import Call, Style, Turn
from templates.tools import TOOLS

_RAIN = "It rains, 12 °C.\n"


@dataclass(frozen=True)
class Conversation:
    messages: Sequence[Turn]
    tools: Sequence[Turn] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)


def conversations(style: Style) -> dict[str, Conversation]:
    """Returns the conversations by their names, with calls as a template wants them."""
    paris = Call("get_weather", {"city": "Paris", "days": 3, "tags": ["<b>", "né"]})
    note = Call("note", {"text": 'Take an "umbrella".\n'})
    asked = _user("How is the weather in Paris? <b>Quick!</b>")
    answered = style.assistant(content="It rains.")
    called = style.assistant([paris])
    return {
        "system": Conversation([_system(), asked]),
        "developer": Conversation([{"role": "developer", "content": "Be kind."}, asked]),
        "tools": Conversation([_system(), asked], TOOLS),
        "a tool's result": Conversation([asked, called, style.result(paris, 0, _RAIN)], TOOLS),
        "parallel calls": Conversation(
            [
                _system(),
                asked,
                style.assistant([paris, note]),
                style.result(paris, 0, _RAIN),
                style.result(note, 1, "null"),
            ],
            TOOLS,
        ),
        "reasoning": Conversation(
            [
                asked,
                style.assistant([paris], reasoning="I have to look."),
                style.result(paris, 0, _RAIN),
                style.assistant(content="It rains.", reasoning="That is\nrain."),
                _user("And in Rome?"),
            ],
            TOOLS,
        ),
        "thinking on": Conversation([asked], variables={"enable_thinking": True, "thinking": True}),
        "thinking off": Conversation([asked], variables={"enable_thinking": False, "thinking": False}),
        "ten turns": Conversation([_system(), *([asked, answered] * 5), asked]),
        "content null": Conversation([asked, {**called, "content": None}, style.result(paris, 0, _RAIN)], TOOLS),
        "content in parts": Conversation(
            [_user([{"type": "text", "text": text} for text in ("How is ", "the rain?")])]
        ),
        "a name": Conversation([{**_system(), "name": "editor"}, {**asked, "name": "Ann"}, answered, _user("Thanks.")]),
    }


def _system() -> Turn:
    return {"role": "system", "content": "You are brief. Answer in one <line>."}


def _user(content: str | list[Turn]) -> Turn:
    return {"role": "user", "content": content}


NAMES = tuple(conversations(Style()))
