"""How much memory a server's processes need, and whether there is room for one that is started on demand.

The figures are from OpenVINO 2026.4.1 on a CPU: memory that the kernel can't reclaim, of models with random weights
(Qwen3 of 0.6 and 1.7 billion weights with 4 and 8 bits, SmolLM2 of 135 million), in docs/decisions/081.
"""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from specvino.engine.errors import EngineUnavailable, InsufficientMemory, ModelLoadError, UnusableModel
from specvino.engine.processes.memory import Memory, memory, resident

GB = 2**30

# A process that runs a model repacks its weights, and keeps the embeddings a second time: 1.33 to 1.50 times the files
# for weights of 4 and 8 bits. Those of 16 bits are converted to 32, and kept twice: 4.1 to 4.4 times.
_RESIDENT = 1.5
_RESIDENT_FLOATS = 4.4

# A matrix of floats in a model's file. Scales of quantized weights have groups as a third dimension, or one column.
_FLOATS = re.compile(rb'element_type="b?f16" shape="(?!1,)\d+, (?!1")\d+"[^>]* size="(\d+)"')

# What a worker has besides: libraries, the tokenizer, the tensors of a step.
_BESIDE_WORKER = 250 * 2**20

# The full-logits process repacks the weights for prompts, too, and has the logits of all tokens of a step.
_BESIDE_FULL_LOGITS = 600 * 2**20

# A process that loads a .gguf file that isn't converted, at its peak: 2,575 MB for a file of 830 MB.
_UNCONVERTED = 3.2

# The server, the preprocess and the grammar process together, with a vocabulary of 150,000 tokens: 200, 140 and 20 MB,
# and what they need for requests.
_SERVER = 500 * 2**20

# The KV cache gets at most a quarter of the memory.
_CACHE_SHARE = 4

# A process on demand starts with at least this much for the states of its sequences.
LEAST_STATES = GB // 4

# The smallest KV cache, and the steps of its size below a gigabyte.
_STEP = GB // 8

_RETRY_AFTER = 30  # seconds


@dataclass(frozen=True, slots=True)
class Needs:
    """The memory in bytes of a model's processes without their caches, and of its weights, which are a part of it. The
    worker runs the draft model, too; `undrafted` is the worker without it.
    """

    weights: int
    worker: int
    undrafted: int
    full_logits: int


def needs(path: Path, draft: Path | None = None, *, adapter: Path | None = None, converted: bool = False) -> Needs:
    """Returns what the processes of a model need: an OpenVINO folder or a .gguf file, with the matrices of an adapter.
    With `converted` a .gguf file is converted before it is loaded.
    """
    one, drafts = (_loaded(model, converted) for model in (path, draft))
    one += int(weights_of(adapter) * _RESIDENT_FLOATS)
    return Needs(
        weights_of(path) + weights_of(draft) + weights_of(adapter),
        one + drafts + _BESIDE_WORKER,
        one + _BESIDE_WORKER,
        one + _BESIDE_FULL_LOGITS,
    )


def weights_of(path: Path | None) -> int:
    """Returns the size in bytes of the weights of an OpenVINO folder or a .gguf file; 0 for None."""
    if path is None:
        return 0
    return sum(file.stat().st_size for file in (path.glob("*.bin") if path.is_dir() else [path]))


def _loaded(path: Path | None, converted: bool) -> int:
    weights = weights_of(path)
    if path is not None and path.is_dir():
        floats = sum(int(size) for file in path.glob("*.xml") for size in _FLOATS.findall(file.read_bytes()))
        return int(floats * _RESIDENT_FLOATS + (weights - floats) * _RESIDENT)
    return int(weights * (_RESIDENT if converted else _UNCONVERTED))


@dataclass(slots=True)
class _Process:
    """A process with the `size` (bytes) that it may grow to. `pid` returns None while it is restarted; `wanted` returns
    whether it is kept running, None for one that always is.
    """

    size: int
    pid: Callable[[], int | None]
    wanted: Callable[[], bool] | None

    def outstanding(self, resident: Callable[[int], int]) -> int:
        """Returns how many more bytes it may allocate."""
        pid = self.pid()
        return max(0, self.size - resident(pid)) if pid else self.size


class MemoryBudget:
    """The memory of a server's processes, of all its models.

    A process is counted with the size that it may grow to, so that none that is started later takes what is promised to
    another. `read` returns the memory of the machine, and `resident` how much of what is taken is that of a process.
    `server` is what the server and its small processes take.
    """

    def __init__(
        self,
        read: Callable[[], Memory] = memory,
        resident: Callable[[int], int] = resident,
        server: int = _SERVER,
    ) -> None:
        self.read = read
        self._resident = resident
        self._processes: list[_Process] = []
        if server:
            self.add(server, os.getpid)  # what its other processes have is a reserve

    @classmethod
    def of_device(cls, size: int) -> Self:
        """Returns that of a device with memory of its own, in bytes. What is free there isn't known, so that all of a
        process's memory is outstanding.
        """
        return cls(lambda: Memory(size, size, owner="the device"), resident=lambda pid: 0, server=0)

    def add(self, size: int, pid: Callable[[], int | None], wanted: Callable[[], bool] | None = None) -> None:
        """Counts a process that may grow to `size` bytes, as long as it is `wanted`."""
        self._processes.append(_Process(size, pid, wanted))

    def room(self) -> int:
        """Returns how many bytes a further process can have now."""
        self._processes = [process for process in self._processes if process.wanted is None or process.wanted()]
        return self.read().available - sum(process.outstanding(self._resident) for process in self._processes)

    def most(self) -> int:
        """Returns how many bytes a further process could have if only this server ran, without processes on demand."""
        return self.read().total - sum(process.size for process in self._processes if not process.wanted)

    def require(self, size: int, purpose: str) -> int:
        """Returns the room for a process of at least this size. Raises InsufficientMemory if the machine is too small,
        and EngineUnavailable if there is no room now.
        """
        if size > self.most():
            raise InsufficientMemory(self.lack(size, purpose))
        room = self.room()
        if size > room:
            raise EngineUnavailable(
                f"{purpose} requires {in_gb(size)} of memory for a process, and {in_gb(max(0, room))} are free now.",
                retry_after=_RETRY_AFTER,
            )
        return room

    def lack(self, size: int, purpose: str) -> str:
        """Returns why a process of this size never has room."""
        memory = self.read()
        return (
            f"{purpose} requires {in_gb(size)} of memory for a second copy of the model, but the server leaves "
            f"{in_gb(max(0, self.most()))} of the {in_gb(memory.total)} of {memory.owner}."
        )


def choose_cache(models: Sequence[Needs], memory: Memory, size: int | None) -> float:
    """Returns the size of each model's KV cache in GB: the given `size`, else a quarter of the memory divided among the
    models, less if that much isn't free beside the models and a full-logits process of each, or at least beside the
    models: whole gigabytes, or eighths of one. Raises ModelLoadError if the models, or the models with caches of the
    given `size`, don't fit.
    """
    weights = sum(model.weights for model in models)
    free = memory.available + memory.swap
    if weights + _SERVER > free:
        raise ModelLoadError(
            f"the weights take {in_gb(weights)}, but only {in_gb(memory.available)} of the {in_gb(memory.total)} of "
            f"{memory.owner} are free; end other programs, or take a model with fewer weights or fewer bits per weight"
        )
    workers = sum(model.worker for model in models)
    left = memory.total - _SERVER - workers
    if size is not None:
        if size * GB * len(models) > left:
            fitting = max(0, left) // GB // len(models)
            raise UnusableModel(
                f"a KV cache of {size} GB (--cache-size) doesn't fit beside the model ({in_gb(workers)}) into the "
                f"{in_gb(memory.total)} of {memory.owner}; "
                + (f"--cache-size {fitting} does" if fitting else "leave the option out, or take a smaller model")
            )
        return size
    beside = min(left, memory.available - _SERVER - workers)
    beside_all = beside - sum(model.full_logits + LEAST_STATES for model in models)
    rest = beside_all if beside_all >= GB * len(models) else beside
    own = min(memory.total // _CACHE_SHARE, rest) // len(models)
    if own >= GB:
        return own // GB
    # What is free now may be more later, so that only what never fits is refused.
    if left < _STEP * len(models):
        raise UnusableModel(
            f"the model takes {in_gb(workers)} besides its KV cache and the server {in_gb(_SERVER)}, too much for the "
            f"{in_gb(memory.total)} of {memory.owner}; take a model with fewer weights or fewer bits per weight"
        )
    return max(_STEP, own // _STEP * _STEP) / GB


def in_gb(size: int) -> str:
    """Returns a size in bytes for people."""
    return f"{size / GB:.1f} GB"
