"""Keeps what users type from becoming control tokens.

A chat template marks turns with special tokens, written into the same text as the messages: a message that holds
`<|im_end|>` would end its own turn. Where a text contains a special token's text, a seam (a private-use character
that occurs nowhere in the conversation) is put inside it before templating. The rendered prompt is cut at the seams
and its pieces are encoded separately: the same characters reach the model, as ordinary tokens.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


def seam_for(texts: Sequence[str]) -> str:
    """A character that occurs in none of these texts. Raises ValueError if they use up all of them."""
    used = set().union(*texts)
    candidates = map(chr, itertools.chain(*_PRIVATE_USE))
    for candidate in candidates:
        if candidate not in used:
            return candidate
    raise ValueError("The messages use every private-use character of Unicode.")


def marker(special: Iterable[str], seam: str) -> Callable[[str], str]:
    """Returns the function that puts seams into a text, so that no special token's text is left whole."""
    # A token of a single character can't be cut; no byte-level vocabulary has one.
    names = [name for name in special if len(name) > 1]
    # Two texts side by side in a template could spell one together.
    heads = tuple({name[:end] for name in names for end in range(1, len(name))})
    tails = tuple({name[start:] for name in names for start in range(1, len(name))})

    def mark(text: str) -> str:
        text = (seam if text.startswith(tails) else "") + text + (seam if text.endswith(heads) else "")
        present = [name for name in names if name in text]
        if not present:
            return text
        # Looking ahead and taking one character finds overlapping ones too: each is cut after its first character.
        starts = re.compile(f"(?={'|'.join(map(re.escape, present))})(.)", re.DOTALL)
        return starts.sub(lambda first: first[0] + seam, text)

    return mark
