"""Giving a text of ours the form that a system's pattern asks for: its ids, and tokens as far as it shows them."""

import re
from collections.abc import Callable, Iterator

CHARACTERS = re.compile(r"\^(\[[^\]]+\])\*\$")


def patterned(pattern: str) -> Callable[[str], str]:
    """Returns what makes a text match a pattern, if it can. One id of ours always becomes the same id."""
    matches = re.compile(pattern).search
    if characters := CHARACTERS.fullmatch(pattern):
        only = re.compile(characters[1]).findall
        return lambda text: "".join(only(text))
    beginning = re.match(r"\^([\w-]+)", pattern)
    length = re.search(r"\{(\d+)\}", pattern)
    digits = re.search(r"\[0-9\]\{1,(\d+)\}", pattern)

    def candidates(text: str) -> Iterator[str]:
        yield text
        own = re.split("[-_]", text)[-1]
        kind = text.removesuffix(own)
        if beginning:
            yield beginning[1] + own
        if re.fullmatch("[0-9a-f]+", own):  # as those of our ids are
            number = int(own, 16) % 10 ** int(digits[1]) if digits else int(own, 16)
            yield f"{kind}{number}"
            yield f"{kind.replace('_', '-')}{number}"
        if length:
            yield own[: int(length[1])]
        yield ""

    return lambda text: next(filter(matches, candidates(text)), text)
