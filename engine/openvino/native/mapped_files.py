"""The files of a model that OpenVINO maps into memory."""

import ctypes
import mmap
import sys
from pathlib import Path

import psutil


def release(folder: str) -> None:
    """Takes the weights' files in a model's folder out of this process's memory; what is read again comes back from the
    kernel's page cache. Has an effect only on Linux.

    OpenVINO 2026.4.1 keeps the files mapped, although a compiled model has its weights in a layout of its own: a worker
    with 1.7 billion weights of 4 bits takes 1,695 MB instead of 2,680 (decision 081). Delete this when
    `test_weights_are_not_kept_twice` in `tests/engine/openvino/test_engine_memory.py` passes without it.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    # In the cache of the Hugging Face hub they are links to files whose names are digests.
    weights = {str(file.resolve()) for file in Path(folder).glob("*.bin")}
    try:
        maps = psutil.Process().memory_maps(grouped=False)
    except (OSError, psutil.Error):  # a system that doesn't show them, such as a sandbox without /proc/self/smaps
        return
    for mapped in maps:
        # Only what is read-only, so that nothing is lost.
        if "w" not in mapped.perms and mapped.path in weights:
            start, end = (int(bound, 16) for bound in mapped.addr.split("-"))
            libc.madvise(start, end - start, mmap.MADV_DONTNEED)
