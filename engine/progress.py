"""The progress of pulls, conversions and starts."""

from collections.abc import Callable

# Called with the stage, the processed bytes and the total bytes (both 0 if unknown), from any thread. It may raise an
# exception to end the work.
Report = Callable[[str, int, int], None]


def say_nothing(stage: str, done: int, total: int) -> None:
    """A progress callback that does nothing."""
