"""Keeps what users type from becoming control tokens.

A chat template marks turns with special tokens, written into the same text as the messages: a message that holds
`<|im_end|>` would end its own turn. Where a text contains a special token's text, a seam (a private-use character
that occurs nowhere in the conversation) is put inside it before templating. The rendered prompt is cut at the seams
and its pieces are encoded separately: the same characters reach the model, as ordinary tokens (decision 018).
"""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


class TooManyMarks(Exception):
    """The texts spell more special tokens than were allowed: `count`, or more."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def seam_for(texts: Sequence[str]) -> str:
    """Returns a character that occurs in none of these texts, nor do its escapes. Raises ValueError if they use up all
    of them."""
    candidates = map(chr, itertools.chain(*_PRIVATE_USE))
    likely = next(candidates)
    if not any(spelling in text for text in texts for spelling in _spellings(likely)):
        return likely  # much sooner said than which characters there are
    used = set().union(*texts)
    for candidate in candidates:
        if candidate not in used and not any(escape in text for text in texts for escape in _escapes(candidate)):
            return candidate
    raise ValueError("The messages use every private-use character of Unicode.")


def split(text: str, seam: str) -> list[str]:
    """Returns what stands between the seams of a rendered prompt, also where a template has escaped them: as JSON in
    ASCII, or in Python's words."""
    for escape in _escapes(seam):
        if escape in text:
            text = text.replace(escape, seam)
    return [piece for piece in text.split(seam) if piece] or [""]


def marker(special: Iterable[str], seam: str, most: int | None = None) -> Callable[[str], str]:
    """Returns the function that puts seams into a text, so that no special token's text is left whole.

    It raises TooManyMarks when the texts that it was called with spell more than `most` of them: each is cut into two
    tokens at the least.
    """
    shapes = _shapes(tuple(special))
    found = 0

    def mark(text: str) -> str:
        nonlocal found
        text = (seam if text.startswith(shapes.tails) else "") + text + (seam if text.endswith(shapes.heads) else "")
        allowed = 0 if most is None else most - found + 1
        marked, count = shapes.first.subn(lambda first: first[0] + seam, text, count=allowed)
        found += count
        if most is not None and found > most:
            raise TooManyMarks(found)
        return marked

    return mark


def _escapes(seam: str) -> set[str]:
    return {json.dumps(seam)[1:-1], repr(seam)[1:-1]}


def _spellings(seam: str) -> set[str]:
    return {seam, *_escapes(seam)}


class _Shapes(NamedTuple):
    """Holds the beginnings and ends of names, and a pattern that finds the first character of each whole one."""

    heads: tuple[str, ...]
    tails: tuple[str, ...]
    first: re.Pattern[str]


@lru_cache(maxsize=4)
def _shapes(special: tuple[str, ...]) -> _Shapes:
    """Returns what is made of the special tokens' names. A vocabulary may have a thousand of them: this is kept from
    prompt to prompt."""
    # A token of a single character can't be cut; no vocabulary is known that has one.
    names = [name for name in special if len(name) > 1]
    # Two texts side by side in a template could spell one together.
    heads = {name[:end] for name in names for end in range(1, len(name))}
    tails = {name[start:] for name in names for start in range(1, len(name))}
    # Looking ahead behind one character finds overlapping ones too: each is cut after its first character.
    starts = [f"{re.escape(head)}(?={_any_of(rests)})" for head, rests in _by_first(names).items()]
    return _Shapes(tuple(heads), tuple(tails), re.compile("|".join(starts) or "(?!)"))


def _any_of(words: Iterable[str]) -> str:
    """Returns a pattern for the beginning of any of these words; what they have in common stands in it once."""
    by_first = _by_first(words)
    if "" in by_first:
        return ""
    return "(?:" + "|".join(re.escape(first) + _any_of(rests) for first, rests in by_first.items()) + ")"


def _by_first(words: Iterable[str]) -> dict[str, list[str]]:
    """Returns what stands behind each first character."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[:1], []).append(word[1:])
    return rests
