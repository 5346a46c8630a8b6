"""How much memory the KV cache may have, where nobody says."""

from contextlib import suppress
from pathlib import Path

import psutil

# Of the machine's memory: the model has to fit beside it, and so has what a step computes.
_SHARE = 4

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def default_cache_size(container: Path = _CONTAINER, device_memory: int | None = None, sharing: int = 1) -> int:
    """Returns gigabytes, at least one: a quarter of the machine's memory, or of the container's (in `container`), or of
    that of a device with memory of its own (in bytes). So many models are `sharing` it.

    The machine's are taken from the machine only as they are used.
    """
    if device_memory is not None:
        return max(1, device_memory // _SHARE // sharing // 2**30)
    memory = psutil.virtual_memory().total
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        memory = min(memory, int(container.read_text(encoding="ascii")))
    return max(1, memory // _SHARE // sharing // 2**30)
