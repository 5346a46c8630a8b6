"""Custom tools, whose input is a text: to the model they are functions with one parameter."""

import json
import re
from collections.abc import Mapping
from typing import Any

_INPUT = "input"

_OPENING = re.compile(rf'\s*\{{\s*"{_INPUT}"\s*:\s*"')
_EMPTY = re.compile(r"\s*\{?\s*\}?\s*")

# Whole characters of a JSON string: half of an escape, or of a pair of surrogates, waits for the rest.
_CHARACTERS = re.compile(
    r"""(?:[^"\\]                                                    # unescaped
         | \\["\\/bfnrt]
         | \\u(?!d[89ab])[0-9a-f]{4}
         | \\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}                 # a pair of surrogates
         | \\ud[89ab][0-9a-f]{2}(?=[^\\]|\\[^u]|\\u(?!d[c-f])[0-9a-f]{4}) # one without the other
        )*""",
    re.IGNORECASE | re.VERBOSE,
)


def custom_parameters(constraint: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the parameters of a custom tool as a function; `constraint` has the keywords of its text's schema."""
    return {
        "type": "object",
        "properties": {_INPUT: {"type": "string", **constraint}},
        "required": [_INPUT],
        "additionalProperties": False,
    }


def custom_arguments(input: str) -> str:
    """Returns the input of a custom tool as the arguments of the function."""
    return json.dumps({_INPUT: input}, ensure_ascii=False)


class CustomInput:
    """Reads the input of a custom tool's call from its arguments, while these arrive."""

    def __init__(self) -> None:
        self._arguments = ""
        self._at: int | None = None  # the first character of the input that wasn't returned

    def feed(self, arguments: str) -> str:
        """Returns the new text of the input in further arguments."""
        self._arguments += arguments
        if self._at is None:
            opening = _OPENING.match(self._arguments)
            if opening is None:
                return ""
            self._at = opening.end()
        characters = _CHARACTERS.match(self._arguments, self._at)
        assert characters is not None
        self._at = characters.end()
        text: str = json.loads(f'"{characters[0]}"', strict=False)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def end(self) -> str:
        """Returns the rest of the input after the last arguments: the arguments themselves, if they have no input."""
        if self._at is not None or _EMPTY.fullmatch(self._arguments):
            return ""
        return self._arguments
