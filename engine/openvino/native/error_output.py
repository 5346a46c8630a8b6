"""Filters for OpenVINO's output: C++ file names in error texts, and warnings on stderr."""

import contextlib
import os
import re
import resource
from collections.abc import Iterator

# C++ and the C library say it so.
_NO_MEMORY = re.compile("std::bad_alloc|Cannot allocate memory")

_NOISE = re.compile(r"(Exception from |Check '|\[json\.exception)")


def one_line(error: Exception) -> str:
    """Returns an error's first meaningful line, fit for a client or a terminal."""
    if isinstance(error, MemoryError) or _NO_MEMORY.search(str(error)):
        return "not enough memory: an allocation failed"
    lines = (line.strip() for line in str(error).splitlines())
    line = next((line for line in lines if line and not _NOISE.match(line)), type(error).__name__)
    return line.split(": [json.exception")[0]


def last_words(error: Exception) -> str:
    """Returns why a process ends, in one line for the operator: with the limit, if one was set for its memory."""
    line = one_line(error)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or not line.startswith("not enough memory"):
        return line
    return f"{line}, since a process may have {limit / 1e9:.3g} GB of address space here (ulimit -v)"


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
