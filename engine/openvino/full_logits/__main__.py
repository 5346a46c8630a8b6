"""The full-logits process: it answers the same messages as the worker."""

import ctypes
from math import ceil

from specvino.engine.openvino.full_logits.model_runner import end_tokens, load
from specvino.engine.openvino.full_logits.scheduler import CAPACITY, Scheduler
from specvino.engine.openvino.messages.worker import Loaded, ToWorker
from specvino.engine.openvino.native import mapped_files
from specvino.engine.openvino.native.error_output import last_words
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready

_M_MMAP_THRESHOLD = -3  # malloc.h
_MAPPED = 2**20  # bytes


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    if settings.expendable:
        child.expendable()
    _give_memory_back()
    model = load(settings.path, settings.options)
    size = model.state_size()
    sequence_tokens = ceil(size.sequence / size.token)
    mapped_files.release(settings.path)
    cache_tokens = None
    if settings.state_size:
        cache_tokens = settings.state_size // size.token
        channel.send(Loaded(max(0, cache_tokens - sequence_tokens) // CAPACITY))
    scheduler = Scheduler(
        model,
        end_tokens(settings.path),
        settings.max_sequences,
        settings.options.max_num_batched_tokens,
        cache_tokens,
        sequence_tokens,
        settings.hidden_size,
    )
    channel.send(Ready())
    while True:
        message = channel.receive() if scheduler.idle else channel.poll()
        while message is not None:
            scheduler.receive(message)
            message = channel.poll()
        channel.send(scheduler.step())


def _give_memory_back() -> None:
    """Makes glibc return large blocks to the system when they are freed. By default it raises the threshold to the size
    of freed blocks, up to 32 MiB, and keeps smaller ones: states that grow and are copied then take two to three times
    their size (glibc 2.36: 2,227 MB instead of 1,443 for 703 MB of keys and values).
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # other C libraries have none
        mallopt(_M_MMAP_THRESHOLD, _MAPPED)


if __name__ == "__main__":
    child.run(ToWorker, work, last_words)
