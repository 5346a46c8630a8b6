"""Who is told how a pull goes on."""

from collections.abc import Callable

# Told the stage a pull is in, and how many of how many bytes are there (0 of 0 where that can't be known).
Report = Callable[[str, int, int], None]


def say_nothing(stage: str, done: int, total: int) -> None:
    """Is a report for callers who don't show one."""
