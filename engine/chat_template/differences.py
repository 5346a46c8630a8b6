"""What texts have in common, without cutting a tag in two."""

import re
from itertools import takewhile

TAG = re.compile(r"<[^<>\s][^<>]*>|\[/?[A-Z][A-Z_]*\]")


def common_start(*texts: str) -> str:
    """Returns the longest text with which all of them begin."""
    alike = takewhile(lambda characters: len(set(characters)) == 1, zip(*texts, strict=False))
    return "".join(characters[0] for characters in alike)


def common_end(*texts: str) -> str:
    """Returns the longest text with which all of them end."""
    return common_start(*(text[::-1] for text in texts))[::-1]


def outside_tags(text: str, place: int, *, forward: bool) -> int:
    """Returns the place, moved out of a tag that it is within."""
    for tag in TAG.finditer(text):
        if tag.start() < place < tag.end():
            return tag.end() if forward else tag.start()
    return place
