"""How many Python functions some work calls: a cost that doesn't depend on the machine."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# The event loop, which uvloop is in a server, and the client.
_OTHERS = ("asyncio.base_events", "asyncio.events", "asyncio.selector_events", "selectors", "httpx", "test_", "server.")


@contextmanager
def counted() -> Iterator[list[int]]:
    """Counts what is called in this thread while it is open, each resumption of a generator too, in the one number of
    the list."""
    calls = [0]

    def called(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not frame.f_globals.get("__name__", "").startswith(_OTHERS):
            calls[0] += 1

    sys.setprofile(called)
    try:
        yield calls
    finally:
        sys.setprofile(None)
