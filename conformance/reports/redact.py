"""Keeps keys out of reports, also where a server sends them back."""

import re
from collections.abc import Iterable, Mapping
from typing import Self

from specvino.conformance.http.client import Target

HIDDEN = "[redacted]"

# Headers whose values nobody needs to see.
SECRET = ("authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key", "api-key")

# Characters of a key below which it is only looked for as a word: a placeholder such as `none` must not blot out the
# same letters elsewhere.
SHORT = 8

# Backslashes before a character that are looked through: each JSON text within another doubles them.
MOST_ESCAPES = 8

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")


def _pattern(key: str) -> str:
    """Returns the pattern of a key: each character as it is, or escaped as in JSON (also in JSON within JSON) or in a
    URL."""
    written = "".join(map(_written, key))
    return rf"(?<![A-Za-z0-9]){written}(?![A-Za-z0-9])" if len(key) < SHORT else written


def _written(character: str) -> str:
    code = f"{ord(character):02x}"
    return rf"\\{{0,{MOST_ESCAPES}}}(?:{re.escape(character)}|(?i:u00{code})|(?i:(?:%|u0025){code}))"


class Redactor:
    """Hides secrets. `keys` never get through, neither plain nor as JSON or a URL would write them; nor do the values
    of headers with `names`. What gets through can be printed and encoded: control characters, which a terminal would
    obey, and halves of characters are written out."""

    def __init__(self, keys: Iterable[str], names: Iterable[str] = ()) -> None:
        patterns = [_pattern(key) for key in sorted({key for key in keys if key}, key=len, reverse=True)]
        self._keys = re.compile("|".join(patterns)) if patterns else None
        self._names = {*SECRET, *names}

    @classmethod
    def of(cls, target: Target) -> Self:
        """Returns the redactor for the key and the headers of a target; what follows `Bearer` in one is a key, too. A
        short value is hidden in its header only: `1` is everywhere."""
        words = {each for value in target.extra.values() for each in (value, value.rpartition(" ")[2])}
        return cls([target.key or "", *(each for each in words if len(each) >= SHORT)], target.extra)

    def text(self, text: str) -> str:
        shown = self._keys.sub(HIDDEN, text) if self._keys else text
        shown = CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", shown)
        return shown.encode("utf-8", "backslashreplace").decode()

    def body(self, content: bytes, longest: int) -> str:
        """Returns at most so many characters of a body, cut only after keys are out: half a key tells too much, too."""
        shown = self.text(content.decode("utf-8", "backslashreplace"))
        return shown if len(shown) <= longest else f"{shown[:longest]}…"

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            self.text(name): HIDDEN if name.lower() in self._names else self.text(value)
            for name, value in headers.items()
        }
