"""Native libraries write to stderr whatever they like while they try to read a model."""

import contextlib
import os
from collections.abc import Iterator

_STDERR = 2


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Drops what is written to stderr meanwhile, by native code too: failures come as exceptions, with a reason."""
    kept = os.dup(_STDERR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDERR)
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)
        os.close(nowhere)
