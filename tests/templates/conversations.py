"""Conversations of requests, one for each feature that templates treat differently."""

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
    """Returns the conversations by name, with calls in the form that a template expects."""
    paris = Call("get_weather", {"city": "Paris", "days": 3, "tags": ["<b>", "né"]})
    note = Call("note", {"text": 'Take an "umbrella".\n'})
    question = _user("How is the weather in Paris? <b>Quick!</b>")
    answered = style.assistant(content="It rains.")
    called = style.assistant([paris])
    return {
        "system": Conversation([_system(), question]),
        "developer": Conversation([{"role": "developer", "content": "Be kind."}, question]),
        "tools": Conversation([_system(), question], TOOLS),
        "a tool's result": Conversation([question, called, style.result(paris, 0, _RAIN)], TOOLS),
        "parallel calls": Conversation(
            [
                _system(),
                question,
                style.assistant([paris, note]),
                style.result(paris, 0, _RAIN),
                style.result(note, 1, "null"),
            ],
            TOOLS,
        ),
        "reasoning": Conversation(
            [
                question,
                style.assistant([paris], reasoning="I have to look."),
                style.result(paris, 0, _RAIN),
                style.assistant(content="It rains.", reasoning="That is\nrain."),
                _user("And in Rome?"),
            ],
            TOOLS,
        ),
        "thinking on": Conversation([question], variables={"enable_thinking": True, "thinking": True}),
        "thinking off": Conversation([question], variables={"enable_thinking": False, "thinking": False}),
        "ten turns": Conversation([_system(), *([question, answered] * 5), question]),
        "content null": Conversation([question, {**called, "content": None}, style.result(paris, 0, _RAIN)], TOOLS),
        "content in parts": Conversation(
            [_user([{"type": "text", "text": text} for text in ("How is ", "the rain?")])]
        ),
        "a name": Conversation(
            [{**_system(), "name": "editor"}, {**question, "name": "Ann"}, answered, _user("Thanks.")]
        ),
    }


def _system() -> Turn:
    return {"role": "system", "content": "You are brief. Answer in one <line>."}


def _user(content: str | list[Turn]) -> Turn:
    return {"role": "user", "content": content}


NAMES = tuple(conversations(Style()))
