"""How much memory the KV cache may have, where nobody says."""

from contextlib import suppress
from pathlib import Path

import psutil

# Of the machine's memory: the model has to fit beside it, and so has what a step computes.
_SHARE = 4

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def default_cache_size(container: Path = _CONTAINER) -> int:
    """Returns gigabytes: a quarter of the machine's memory, or of the container's (in `container`), at least one.

    They are taken from the machine only as they are used.
    """
    memory = psutil.virtual_memory().total
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        memory = min(memory, int(container.read_text(encoding="ascii")))
    return max(1, memory // _SHARE // 2**30)
