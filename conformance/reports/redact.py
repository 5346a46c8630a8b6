"""Keeps keys out of reports, also where a server sends them back."""

import json
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

HIDDEN = "[redacted]"

SECRET = ("authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key", "api-key")
"""Headers whose values nobody needs to see."""

SHORT = 8
"""Characters of a key below which it is only looked for as a word: a placeholder such as `none` must not blot out the
same letters elsewhere."""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")


def _forms(key: str) -> tuple[str, ...]:
    """As it is, as JSON writes it, with and without escaped slashes, and as a URL does."""
    escaped = json.dumps(key)[1:-1]
    return key, escaped, escaped.replace("/", "\\/"), quote(key, safe="")


class Redactor:
    """`keys` never get through, neither plain nor as JSON or a URL would write them. What gets through can be printed
    and encoded: control characters, which a terminal would obey, and halves of characters are written out."""

    def __init__(self, keys: Iterable[str]) -> None:
        written = {form for key in keys if key for form in _forms(key)}
        patterns = [
            rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])" if len(form) < SHORT else re.escape(form)
            for form in sorted(written, key=len, reverse=True)
        ]
        self._keys = re.compile("|".join(patterns)) if patterns else None

    def text(self, text: str) -> str:
        shown = self._keys.sub(HIDDEN, text) if self._keys else text
        shown = CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", shown)
        return shown.encode("utf-8", "backslashreplace").decode()

    def body(self, content: bytes, longest: int) -> str:
        """At most so many characters, cut only after keys are out: half a key tells too much, too."""
        shown = self.text(content.decode("utf-8", "backslashreplace"))
        return shown if len(shown) <= longest else f"{shown[:longest]}…"

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        return {
            self.text(name): HIDDEN if name.lower() in SECRET else self.text(value) for name, value in headers.items()
        }
