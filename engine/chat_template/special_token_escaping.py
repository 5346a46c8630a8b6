"""Protection against special tokens in users' texts.

A chat template marks turns with special tokens, written into the same text as the messages: a message with
`<|im_end|>` would end its own turn. Before rendering, a seam (a private-use character that occurs nowhere in the
conversation) is inserted into each special token's text in the messages. The rendered prompt is split at the seams, and
its pieces are tokenized separately: the same characters reach the model as ordinary tokens (decision 018).
"""

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


class TooManyMarks(Exception):
    """The texts contain more special tokens than allowed: `count`, or more."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


def seam_for(texts: Sequence[str]) -> str:
    """Returns a private-use character that occurs in none of these texts, neither literally nor escaped. Raises
    ValueError if there is none.
    """
    candidates = map(chr, itertools.chain(*_PRIVATE_USE))
    likely = next(candidates)
    if not any(spelling in text for text in texts for spelling in _spellings(likely)):
        return likely  # faster than collecting all characters
    used = set().union(*texts)
    for candidate in candidates:
        if candidate not in used and not any(escape in text for text in texts for escape in _escapes(candidate)):
            return candidate
    raise ValueError("The messages use every private-use character of Unicode.")


def split(text: str, seam: str) -> list[str]:
    """Returns the pieces of a rendered prompt between the seams, including seams that the template has escaped as
    JSON in ASCII or as Python's repr."""
    for escape in _escapes(seam):
        if escape in text:
            text = text.replace(escape, seam)
    return [piece for piece in text.split(seam) if piece] or [""]


def marker(special: Iterable[str], seam: str, most: int | None = None) -> Callable[[str], str]:
    """Returns a function that inserts seams into a text, so that no special token's text is left intact.

    It raises TooManyMarks when all texts so far contain more than `most` special tokens, each of which becomes at least
    two tokens.
    """
    shapes = _shapes(tuple(special))
    total = 0

    def mark(text: str) -> str:
        nonlocal total
        text = (seam if text.startswith(shapes.tails) else "") + text + (seam if text.endswith(shapes.heads) else "")
        allowed = 0 if most is None else most - total + 1
        marked, count = shapes.first.subn(lambda first: first[0] + seam, text, count=allowed)
        total += count
        if most is not None and total > most:
            raise TooManyMarks(total)
        return marked

    return mark


def _escapes(seam: str) -> set[str]:
    return {json.dumps(seam)[1:-1], repr(seam)[1:-1]}


def _spellings(seam: str) -> set[str]:
    return {seam, *_escapes(seam)}


class _Shapes(NamedTuple):
    """The beginnings and ends of tokens' names, and a pattern that finds the first character of each complete name."""

    heads: tuple[str, ...]
    tails: tuple[str, ...]
    first: re.Pattern[str]


@lru_cache(maxsize=4)
def _shapes(special: tuple[str, ...]) -> _Shapes:
    """Returns the shapes of the special tokens' names. A vocabulary may have a thousand of them, so they are cached
    between prompts."""
    # A token of a single character can't be split; no known vocabulary has one.
    names = [name for name in special if len(name) > 1]
    # Two adjacent texts of a template could form a name.
    heads = {name[:end] for name in names for end in range(1, len(name))}
    tails = {name[start:] for name in names for start in range(1, len(name))}
    # A lookahead after the first character finds overlapping names, too: each is split after its first character.
    starts = [f"{re.escape(head)}(?={_any_of(rests)})" for head, rests in _by_first(names).items()]
    return _Shapes(tuple(heads), tuple(tails), re.compile("|".join(starts) or "(?!)"))


def _any_of(words: Iterable[str]) -> str:
    """Returns a pattern of the beginning of any of these words, in which common prefixes are factored out."""
    by_first = _by_first(words)
    if "" in by_first:
        return ""
    return "(?:" + "|".join(re.escape(first) + _any_of(rests) for first, rests in by_first.items()) + ")"


def _by_first(words: Iterable[str]) -> dict[str, list[str]]:
    """Returns the rests of the words by their first character."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[:1], []).append(word[1:])
    return rests
