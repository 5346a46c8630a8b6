"""Removes keys from reports, also where a server sends them back: complete or in part, plain or encoded."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from specvino.conformance.http.client import Target

HIDDEN = "[redacted]"

# Headers whose values are always hidden.
SECRET = ("authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key", "api-key")

# Characters of a key below which it is only looked for as a word: a placeholder such as `none` must not blot out the
# same letters elsewhere.
SHORT = 8

# The most characters at the beginning of a key that may be left where a text was cut within it.
MOST_LEFT = 7

# Backslashes before a character that are looked through: each JSON text within another doubles them.
MOST_ESCAPES = 8

# Where a text was cut: at its end, or before what closes a quotation or stands for the rest.
CUT = r"""(?=["'`)\]}…]|\s*\Z|\n)"""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")

# What holds the last bits of a key in base64, and what fills it up.
END_OF_BASE64 = "[A-Za-z0-9+/_-]{0,3}(?:=|%3[Dd]){0,2}"


def _patterns(key: str) -> Iterator[str]:
    """Yields the patterns of a key: each character as it is, or escaped as in JSON (also in JSON within JSON), a URL or
    HTML; and the key in base64."""
    written = [*map(_written, key)]
    if len(key) < SHORT:
        yield rf"(?<![A-Za-z0-9]){''.join(written)}(?![A-Za-z0-9])"
        return
    yield _whole_or_cut(rf"(?=[{re.escape(key[0])}\\%&uU])", written, "")
    for text in _base64(key):
        yield _whole_or_cut("", [*map(_in_base64, text)], END_OF_BASE64)


def _whole_or_cut(before: str, units: Sequence[str], after: str) -> str:
    """Returns the pattern of a text, or of its beginning where that was cut: half a key reveals too much, too."""
    first = min(len(units) // 2, MOST_LEFT + 1)
    some = rf"""[^\s"'`)\]}}…]{{0,{len(units) * 6}}}+{CUT}"""
    return f"{before}{''.join(units[:first])}(?:{''.join(units[first:])}{after}|{some})"


def _written(character: str) -> str:
    code = f"{ord(character):02x}"
    in_html = f"&#(?:0*{ord(character)}|x0*{code});"
    named = {"&": "|&amp;", "<": "|&lt;", ">": "|&gt;", '"': "|&quot;"}.get(character, "")
    return (
        rf"\\{{0,{MOST_ESCAPES}}}"
        rf"(?:{re.escape(character)}|(?i:u00{code})|(?i:(?:%|u0025)(?:25)*{code})|(?i:{in_html}){named})"
    )


def _base64(key: str) -> Iterator[str]:
    """Yields what the key is in base64, alone or after something such as `user:`, without the characters that also
    hold bits of what stands before or after it."""
    for before in range(3):
        content = b"." * before + key.encode()
        whole = len(content) // 3 * 4
        yield b64encode(content).decode()[(0, 2, 3)[before] : whole]


def _in_base64(character: str) -> str:
    return {"+": "(?:[+-]|%2[Bb])", "/": r"(?:\\{0,8}[/_]|%2[Ff])"}.get(character, character)


class Redactor:
    """Hides secrets. `keys` never get through, neither plain nor as JSON, a URL, HTML or base64 would write them, nor
    halves of them where a text was cut; nor do the values of headers with `names`. What gets through can be printed and
    encoded: control characters, which a terminal would obey, and halves of characters are written out."""

    def __init__(self, keys: Iterable[str], names: Iterable[str] = ()) -> None:
        longest_first = sorted({key for key in keys if key}, key=len, reverse=True)
        patterns = [pattern for key in longest_first for pattern in _patterns(key)]
        self._keys = re.compile("|".join(patterns)) if patterns else None
        self._names = {*SECRET, *names}

    @classmethod
    def of(cls, target: Target) -> Self:
        """Returns the redactor for the key and the headers of a target; what follows `Bearer` in one is a key, too. A
        short value is hidden in its header only: `1` is everywhere."""
        words = {word for value in target.extra.values() for word in (value, value.rpartition(" ")[2])}
        return cls(
            [target.key or "", *(word for word in words if len(word) >= SHORT)],
            (*target.extra, target.key_header or ""),
        )

    def text(self, text: str) -> str:
        shown = self._keys.sub(HIDDEN, text) if self._keys else text
        shown = CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", shown)
        return shown.encode("utf-8", "backslashreplace").decode()

    def body(self, content: bytes, longest: int) -> str:
        """Returns at most `longest` characters of a body, truncated only after keys are removed: half a key reveals too
        much, too."""
        shown = self.text(content.decode("utf-8", "backslashreplace"))
        return shown if len(shown) <= longest else f"{shown[:longest]}…"

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            self.text(name): HIDDEN if name.lower() in self._names else self.text(value)
            for name, value in headers.items()
        }
