"""Sets of characters as ranges of code points: sorted, disjoint, with both ends included."""

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

# All of Unicode except surrogates, which aren't characters.
ANY: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))


def of(text: str) -> Ranges:
    """Returns the set of a text's characters."""
    return union((ord(char), ord(char)) for char in text)


def union(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Returns the set of the characters in these ranges, which may overlap."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)


def without(ranges: Ranges, removed: Ranges) -> Ranges:
    """Returns the characters of a set that aren't in the other one."""
    left: list[tuple[int, int]] = []
    for low, high in ranges:
        for cut_low, cut_high in removed:
            if cut_high < low or cut_low > high:
                continue
            if cut_low > low:
                left.append((low, cut_low - 1))
            low = cut_high + 1
        if low <= high:
            left.append((low, high))
    return tuple(left)


def common(a: Ranges, b: Ranges) -> Ranges:
    """Returns the characters that are in both sets."""
    return without(a, without(ANY, b))


def contains(ranges: Ranges, char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in ranges)
