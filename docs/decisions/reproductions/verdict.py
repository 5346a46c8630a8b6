"""What a reproduction answers: whether the fault that a decision works around is still there."""

import sys
from typing import NoReturn

STILL_NEEDED, GONE, CANNOT_TELL = 0, 1, 2
"""Exit codes."""


def report(fault: bool, seen: str) -> NoReturn:
    """Prints the verdict with what was seen, and ends the program: with 0 if the fault is still there, else with 1."""
    if fault:
        print(f"still needed: {seen}")
        sys.exit(STILL_NEEDED)
    print(f"gone: delete the workaround ({seen})")
    sys.exit(GONE)


def cannot_tell(why: str) -> NoReturn:
    """Ends the program with 2, where this machine can't show the fault."""
    print(f"can't tell here: {why}")
    sys.exit(CANNOT_TELL)
