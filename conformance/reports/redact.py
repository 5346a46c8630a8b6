"""Removes keys from reports, even if the server repeats them: complete or truncated, plain, escaped, in other case, in
hex or base64, or without their first characters.

What is public isn't removed: the target's URL, the name of its model, media types. A header's value that is a part of
them is hidden in its header only, and one that begins as they do is recognized by what follows.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Self

from specvino.conformance.http.client import Target
from specvino.conformance.reports import inert

HIDDEN = "[redacted]"

# Headers whose values are always hidden.
SECRET = ("authorization", "cookie", "set-cookie", "proxy-authorization", "x-api-key", "api-key")

# Values of headers that requests and answers have anyway.
MEDIA_TYPES = "application/json text/event-stream application/x-ndjson text/plain"

# Keys with fewer characters are only hidden as whole words: a placeholder such as `none` may be part of other words.
SHORT = 8

# The largest number of a key's characters that may remain where a text was truncated within the key.
MAX_REMAINING = 7

# The largest number of characters that a key may lack at its beginning, such as `sk-`. What is left is at least half of
# it, and not a word: the end of `my-development` is other text, too.
MAX_LACKING = 16
LONGEST_WORD = 15

# The largest number of backslashes before a character: each level of JSON in JSON doubles them.
MAX_ESCAPES = 8

# The scheme and the host of a URL, which aren't secret; a user and a password before the host are.
ADDRESS = re.compile(r"https?://(?:[^/?#@]+(?=[/?#]|\Z)/?)?")

# Where a text may be truncated: at its end, before a closing quote or bracket, an ellipsis or asterisks, and within an
# escape.
CUT = re.compile(r"""(?:[\\%&][\\%&#xu0-9A-Fa-f]*)?(?=["'`)\]}…*•]|\.\.|\s*\Z|\r?\n)""")

BEGINS_WORD = re.compile("(?<![A-Za-z0-9])")
ENDS_WORD = re.compile("(?![A-Za-z0-9])")

# The last characters of a key in base64, and padding.
END_OF_BASE64 = re.compile("[A-Za-z0-9+/_-]{0,3}(?:=|%3[Dd]){0,2}")

# The name in place of headers that have no room.
MORE = "…"

# The largest number of characters of a text in a report.
LONGEST = 4_000

# The number of bytes or characters, for each that is shown, from which a text is made: its redacted form is shorter.
WINDOW = 4


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to write a key. `units` are the patterns of its parts, the first of which begins with a character in
    `first`; `least` is the number of units by which a truncated key is recognized. `literal` is the key as it is, where
    units are ambiguous: `%25` may be one character or three. `before` and `after` match where it begins and ends."""

    units: tuple[str, ...]
    first: str
    least: int
    literal: str | None = None
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None

    def end(self, text: str, start: int) -> int | None:
        """Returns where the key ends that begins at `start`; None if there is none."""
        if self.before is not None and not self.before.match(text, start):
            return None
        if self.literal is not None and text.startswith(self.literal, start):
            return start + len(self.literal)
        position = start
        for number, unit in enumerate(self.units):
            match = _compiled(unit).match(text, position)
            if match is None:
                cut = CUT.match(text, position) if number >= self.least else None
                return cut and cut.end()
            position = match.end()
        if self.after is None:
            return position
        match = self.after.match(text, position)
        return match and match.end()


def _leads(forms: Iterable[_Form]) -> re.Pattern[str]:
    """Returns a pattern that matches where a key may begin: by the first units of each form. Their first characters
    are tried before, which is faster."""
    by_place: dict[str, list[_Form]] = {}
    for form in forms:
        by_place.setdefault(form.before.pattern if form.before else "", []).append(form)
    parts = []
    for before, alike in by_place.items():
        first = re.escape("".join(sorted({character for form in alike for character in form.first})))
        leads = ("".join(form.units[: min(form.least, MAX_REMAINING + 1)]) for form in alike)
        parts.append(f"{before}(?=[{first}])(?:{'|'.join(leads)})")
    return re.compile("|".join(parts))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _forms(key: str, public: Collection[str]) -> Iterator[_Form]:
    """Yields the forms of a key."""
    if len(key) < SHORT:
        units = tuple(map(_escaped_forms, key))
        yield _Form(units, _begins(key[0]), len(key) + 1, before=BEGINS_WORD, after=ENDS_WORD)
        return
    known = _known(key, public)
    plain = tuple(map(_in_any_case, key))
    yield _Form(plain, _begins(key[0]), _least(len(key), known), key)
    digits = key.encode().hex()
    between = rf"(?:\\{{0,{MAX_ESCAPES}}}x|[: -])?"
    units = tuple(f"{between if number and number % 2 == 0 else ''}(?i:{digit})" for number, digit in enumerate(digits))
    yield _Form(units, digits[0], _least(len(key), known) * 2)
    for text in _base64(key):
        units = tuple(map(_in_base64, text))
        yield _Form(units, f"{text[0]}-%_\\", _least(len(text), known and known * 4 // 3 + 2), after=END_OF_BASE64)
    if "/" in key:
        return  # the end of an address is that of others, too
    for lacking in range(1, min(MAX_LACKING, len(key) // 2, len(key) - SHORT) + 1):
        rest = key[lacking:]
        if (len(rest) > LONGEST_WORD or not rest.isalpha()) and not any(rest in text for text in public):
            yield _Form(plain[lacking:], _begins(rest[0]), len(rest) + 1, before=BEGINS_WORD)


def _begins(character: str) -> str:
    """Returns the characters with which a character begins, escaped or not."""
    return rf"{character.lower()}{character.upper()}\%&uU"


def _known(key: str, public: Iterable[str]) -> int:
    """Returns how many of the first characters of a key are public."""
    address = ADDRESS.match(key)
    lengths = [address.end() if address else 0]
    for text in public:
        lengths.append(next((length for length in range(len(key), 0, -1) if key[:length] in text), 0))
    return max(lengths)


def _least(length: int, known: int) -> int:
    """Returns the number of units by which a truncated key is recognized: half a key is a secret, too."""
    return known + max(min((length - known) // 2, MAX_REMAINING + 1), 1)


def _in_any_case(character: str) -> str:
    cases = {character.lower(), character.upper()}
    return f"(?:{'|'.join(map(_escaped_forms, sorted(cases)))})" if len(cases) > 1 else _escaped_forms(character)


def _escaped_forms(character: str) -> str:
    code = f"{ord(character):02x}"
    in_html = f"&#(?:0*{ord(character)}|x0*{code});"
    named = {"&": "&amp;|", "<": "&lt;|", ">": "&gt;|", '"': "&quot;|"}.get(character, "")
    return (
        rf"\\{{0,{MAX_ESCAPES}}}"
        rf"(?:(?i:u00{code})|(?i:(?:%|u0025)(?:25)*{code})|(?i:{in_html})|{named}{re.escape(character)})"
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
    """Hides secrets: `keys` in any form, and values of headers with `names`. `public` are texts that stay. All that it
    returns is inert and of a bounded length."""

    def __init__(self, keys: Iterable[str], names: Iterable[str] = (), public: Iterable[str] = ()) -> None:
        known = tuple(public)
        self._forms = [form for key in sorted({*keys} - {""}) for form in _forms(key, known)]
        self._leads = _leads(self._forms) if self._forms else None
        self._names = {*SECRET, *names}

    @classmethod
    def of(cls, *targets: Target) -> Self:
        """Returns the redactor for the keys and headers of targets. The part after `Bearer` in a header is a key, too.
        Short values are only hidden in their headers, since `1` occurs everywhere, and so are public ones."""
        public = (*(text for target in targets for text in (target.url, target.model or "")), MEDIA_TYPES)
        values = {value for target in targets for value in target.extra.values()}
        words = {word for value in values for word in (value, value.rpartition(" ")[2])}
        secret = (word for word in words if len(word) >= SHORT and not any(word in text for text in public))
        names = (name for target in targets for name in (*target.extra, target.key_header or ""))
        return cls([*(target.key or "" for target in targets), *secret], names, public)

    def text(self, text: str, longest: int = LONGEST) -> str:
        """Returns at most `longest` characters of a text, on one line."""
        window = text[: longest * WINDOW]
        return _cut(inert.line(self._without_keys(window)), longest, is_whole=window == text)

    def body(self, content: bytes, longest: int) -> str:
        """Returns at most `longest` characters of a body."""
        window = content[: longest * WINDOW]
        text = window.decode("utf-8", "backslashreplace")
        return _cut(inert.block(self._without_keys(text)), longest, is_whole=window == content)

    def headers(self, headers: Mapping[str, str], longest: int = LONGEST) -> dict[str, str]:
        """Returns headers of at most `longest` characters in all."""
        shown: dict[str, str] = {}
        for number, (name, value) in enumerate(headers.items()):
            name, value = self.text(name), HIDDEN if name.lower() in self._names else self.text(value)
            longest -= len(name) + len(value)
            if longest < 0:
                return shown | {MORE: f"{len(headers) - number} more"}
            shown[name] = value
        return shown

    def _without_keys(self, text: str) -> str:
        parts, done, start = [], 0, 0
        while self._leads is not None and (match := self._leads.search(text, start)):
            start = match.start()
            ends = [end for form in self._forms if (end := form.end(text, start)) is not None]
            if not ends:
                start += 1
                continue
            parts += [text[done:start], HIDDEN]
            done = start = max(ends)
        return "".join([*parts, text[done:]])


def _cut(text: str, longest: int, *, is_whole: bool) -> str:
    """Truncates a text after redaction: half a key is a secret, too."""
    return text if is_whole and len(text) <= longest else f"{text[:longest]}…"
