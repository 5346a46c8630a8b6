"""An assistant's turns with calls that are hard to write or to parse."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from templates.style import Call


@dataclass(frozen=True)
class Turn:
    calls: Sequence[Call]
    content: str = ""
    reasoning: str = ""


def _note(text: str, **more: Any) -> Call:
    return Call("note", {"text": text, **more})


_NOW = Call("now", {})
_PARIS = Call("get_weather", {"city": "Paris", "days": 3})
_LONG = "".join(f"Line {number}: five boxing wizards jump quickly.\n" for number in range(220))

TURNS = {
    "no arguments": Turn([_NOW]),
    "all types": Turn(
        [
            Call(
                "get_weather",
                {
                    "city": "Paris",
                    "days": 3,
                    "factor": -0.5,
                    "detailed": True,
                    "region": None,
                    "options": {"unit": "celsius", "hourly": False},
                    "tags": ["rain", "wind"],
                },
            )
        ]
    ),
    "nested": Turn(
        [Call("get_weather", {"city": "Oslo", "options": {"a": {"b": [1, [2, {"c": None}]], "d": []}, "e": {}}})]
    ),
    "quotes": Turn([_note("She said \"no\", 'never' and `why`.", title='"')]),
    "backslashes": Turn([_note("C:\\new\\table \\\\ \\u0041 \\", title="\\n")]),
    "line breaks": Turn([_note("\n\nfirst\n\tsecond\n\n", title="\n")]),
    "digits": Turn([_note("123", title="true", lines=["null", "1.50", "{}"])]),
    "Unicode": Turn([_note("naïve 東京 🎉👨‍👩‍👧 \u2028 ｜▁", lines=["é", "e\u0301"])]),
    "10 kB": Turn([_note(_LONG)]),
    "no type": Turn([Call("keep", {"value": "Paris", "other": [5, None]})]),
    "digits of no type": Turn([Call("keep", {"value": "123"})]),
    "two calls": Turn([_PARIS, _note("Take an umbrella.")]),
    "three calls": Turn([_PARIS, _NOW, Call("get_weather", {"city": "Rome", "detailed": False})]),
    "text before": Turn([_PARIS], content="I look it up."),
    "reasoning before": Turn([_PARIS], reasoning="They want to know about Paris."),
}
OPENING = "opening markers"
CLOSING = "closing markers"
CASES = (*TURNS, OPENING, CLOSING)


def turn(case: str, before: str, after: str) -> Turn:
    """Returns a case's turn. `before` and `after` are the texts with which the template encloses a call."""
    if case in TURNS:
        return TURNS[case]
    return Turn([_note(f"a{before if case == OPENING else after}b")])
