"""Removes keys from reports, even if the server repeats them: complete or truncated, plain, escaped or in base64."""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

from specvino.conformance.http.client import Target

HIDDEN = "[redacted]"

# Headers whose values are always hidden.
SECRET = ("authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key", "api-key")

# Keys with fewer characters are only hidden as whole words: a placeholder such as `none` may be part of other words.
SHORT = 8

# The largest number of a key's characters that may remain where a text was truncated within the key.
MAX_REMAINING = 7

# The largest number of backslashes before a character: each level of JSON in JSON doubles them.
MAX_ESCAPES = 8

# Where a text may be truncated: at its end, before a closing quote or bracket, or before an ellipsis.
CUT = r"""(?=["'`)\]}…]|\s*\Z|\n)"""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")

# The last characters of a key in base64, and padding.
END_OF_BASE64 = "[A-Za-z0-9+/_-]{0,3}(?:=|%3[Dd]){0,2}"


def _patterns(key: str) -> Iterator[str]:
    """Yields the patterns of a key: each character plain or escaped for JSON (also JSON in JSON), URLs or HTML; and the
    key in base64."""
    written = [*map(_escaped_forms, key)]
    if len(key) < SHORT:
        yield rf"(?<![A-Za-z0-9]){''.join(written)}(?![A-Za-z0-9])"
        return
    yield _whole_or_cut(rf"(?=[{re.escape(key[0])}\\%&uU])", written, "")
    for text in _base64(key):
        yield _whole_or_cut("", [*map(_in_base64, text)], END_OF_BASE64)


def _whole_or_cut(before: str, units: Sequence[str], after: str) -> str:
    """Returns the pattern of a text, or of its beginning if the text was truncated: half a key is a secret, too."""
    first = min(len(units) // 2, MAX_REMAINING + 1)
    some = rf"""[^\s"'`)\]}}…]{{0,{len(units) * 6}}}+{CUT}"""
    return f"{before}{''.join(units[:first])}(?:{''.join(units[first:])}{after}|{some})"


def _escaped_forms(character: str) -> str:
    code = f"{ord(character):02x}"
    in_html = f"&#(?:0*{ord(character)}|x0*{code});"
    named = {"&": "|&amp;", "<": "|&lt;", ">": "|&gt;", '"': "|&quot;"}.get(character, "")
    return (
        rf"\\{{0,{MAX_ESCAPES}}}"
        rf"(?:{re.escape(character)}|(?i:u00{code})|(?i:(?:%|u0025)(?:25)*{code})|(?i:{in_html}){named})"
    )


def _base64(key: str) -> Iterator[str]:
    """Yields the key in base64 at each of the three alignments, without characters that include bits of neighboring
    text."""
    for before in range(3):
        content = b"." * before + key.encode()
        length = len(content) // 3 * 4
        yield b64encode(content).decode()[(0, 2, 3)[before] : length]


def _in_base64(character: str) -> str:
    return {"+": "(?:[+-]|%2[Bb])", "/": r"(?:\\{0,8}[/_]|%2[Ff])"}.get(character, character)


class Redactor:
    """Hides secrets: keys in any encoding, also truncated, and values of headers with `names`. Makes text printable and
    encodable: control characters and lone surrogates are escaped."""

    def __init__(self, keys: Iterable[str], names: Iterable[str] = ()) -> None:
        longest_first = sorted({key for key in keys if key}, key=len, reverse=True)
        patterns = [pattern for key in longest_first for pattern in _patterns(key)]
        self._keys = re.compile("|".join(patterns)) if patterns else None
        self._names = {*SECRET, *names}

    @classmethod
    def of(cls, target: Target) -> Self:
        """Returns the redactor for a target's key and headers. The part after `Bearer` in a header is a key, too. Short
        values are only hidden in their headers, since `1` occurs everywhere."""
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
        """Returns at most `longest` characters of a body, truncated after redaction: half a key is a secret, too."""
        shown = self.text(content.decode("utf-8", "backslashreplace"))
        return shown if len(shown) <= longest else f"{shown[:longest]}…"

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            self.text(name): HIDDEN if name.lower() in self._names else self.text(value)
            for name, value in headers.items()
        }
