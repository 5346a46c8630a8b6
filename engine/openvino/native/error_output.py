"""Filters for OpenVINO's output: C++ file names in error texts, and warnings on stderr."""

import contextlib
import os
import re
from collections.abc import Iterator

_NOISE = re.compile(r"(Exception from |Check '|\[json\.exception)")


def one_line(error: Exception) -> str:
    """Returns an error's first meaningful line, fit for a client or a terminal."""
    lines = (line.strip() for line in str(error).splitlines())
    line = next((line for line in lines if line and not _NOISE.match(line)), type(error).__name__)
    return line.split(": [json.exception")[0]


_STDERR = 2


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Drops all output to stderr within the context, including that of native code; errors are raised as exceptions
    with a reason.
    """
    kept = os.dup(_STDERR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, _STDERR)
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)
        os.close(nowhere)
