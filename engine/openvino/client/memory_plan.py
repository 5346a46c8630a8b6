"""The plan of a server's memory: the size of the KV cache, what doesn't fit, and the lines of the log."""

from collections.abc import Sequence
from typing import NamedTuple

from specvino.engine.errors import ModelLoadError, UnusableModel
from specvino.engine.models.cache import conversions_folder
from specvino.engine.models.conversions import conversion_size
from specvino.engine.openvino.client.memory_budget import SERVER, MemoryBudget, in_gb
from specvino.engine.openvino.client.memory_needs import CACHE_STEP, GB, Needs
from specvino.engine.processes.memory import Memory

# The KV cache gets at most a quarter of the memory.
_CACHE_SHARE = 4

# A process on demand starts with at least this much for the states of its sequences.
LEAST_STATES = GB // 4

# CPU seconds that a process needs to start, and to load a GB of weights of 4 bits and answer its first request: 12 s
# for Qwen3 1.7B (0.84 GB) on an idle machine (decision 051); 8 s for SmolLM2 (0.09 GB) and 18 s for Qwen3 0.6B
# (0.30 GB) on a busy one without AVX-512.
_STARTING, _LOADING, _LOADING_SLOWLY = 5, 9, 45

_SMALLER = "use a smaller or more strongly quantized model"


class Copy(NamedTuple):
    """A second copy of the model: the requests that need it (`purpose`), the memory of its process in bytes, and how
    much more it has at least for their states.
    """

    purpose: str
    size: int
    least: int


def choose_cache(models: Sequence[Needs], memory: Memory, size: int | None) -> float:
    """Returns the size of each model's KV cache in GB: the given `size`, else a quarter of the memory divided among the
    models, less if that much isn't free beside the models and a full-logits process of each, or at least beside the
    models: whole gigabytes, or eighths of one. Raises ModelLoadError if the models, or the models with caches of the
    given `size`, don't fit.
    """
    weights = sum(model.weights for model in models)
    if weights + SERVER > memory.available + memory.swap:
        raise ModelLoadError(
            f"the weights take {in_gb(weights)} and the server's other processes {in_gb(SERVER)}, but only "
            f"{in_gb(memory.available)} of the {in_gb(memory.total)} of {memory.owner} are free; "
            f"end other programs, or {_SMALLER}"
        )
    least = max(model.least_cache for model in models)
    workers = sum(model.with_cache(least) for model in models) - least * len(models)
    left = memory.total - SERVER
    if size is not None:
        if _takes(models, size * GB) > left:
            fitting = int(_largest(models, left)) if _takes(models, least) <= left else 0
            raise UnusableModel(
                f"a KV cache of {size} GB (--cache-size) doesn't fit beside the model ({in_gb(workers)}) and the "
                f"server's other processes ({in_gb(SERVER)}) into the {in_gb(memory.total)} of {memory.owner}; "
                + (f"--cache-size {fitting} does" if fitting else f"leave the option out, or {_SMALLER}")
            )
        return size
    # What is free now may be more later, so that only what never fits is refused.
    if _takes(models, least) > left:
        raise UnusableModel(
            f"the model takes {in_gb(workers)}, the smallest KV cache {in_gb(least * len(models))}, and the server's "
            f"other processes {in_gb(SERVER)}, too much for the {in_gb(memory.total)} of {memory.owner}; {_SMALLER}"
        )
    free = min(left, memory.available - SERVER)
    beside_all = free - sum(model.full_logits + LEAST_STATES for model in models)
    rest = beside_all if _takes(models, GB) <= beside_all else free
    return min(_largest(models, rest), _rounded(memory.total // _CACHE_SHARE // len(models), least))


def fitting_cache(budget: MemoryBudget, needs: Needs, cache: float, *, may_shrink: bool) -> float:
    """Returns the size in GB of a model's cache, which is in the budget with `cache` GB: as it is, or with `may_shrink`
    reduced to what fits beside the model as it is loaded. Raises UnusableModel.
    """
    missing = -budget.most()
    if missing <= 0:
        return cache
    room = budget.most() + needs.with_cache(needs.cache_of(cache))
    least = needs.with_cache(needs.least_cache)
    if cache and least <= room:
        smaller = min(cache, _largest([needs], room))
        if may_shrink:
            return smaller
        raise UnusableModel(
            f"a KV cache of {cache:g} GB (--cache-size) is {in_gb(missing)} more than {budget.read().owner} has; "
            + (f"--cache-size {int(smaller)} fits" if smaller >= 1 else "leave the option out")
        )
    memory, missing = budget.read(), least - room if cache else missing
    if needs.unconverted is None:
        raise UnusableModel(
            f"the model takes {in_gb(least)} with the smallest KV cache, {in_gb(missing)} more than the other "
            f"processes leave of the {in_gb(memory.total)} of {memory.owner}; {_SMALLER}"
        )
    raise UnusableModel(
        f"{needs.unconverted} isn't converted to OpenVINO's format (a warning says why), and as it is takes "
        f"{in_gb(least + needs.preprocess)} of memory with the smallest KV cache, {in_gb(missing)} more than the other "
        f"processes leave of the {in_gb(memory.total)} of {memory.owner}; it requires "
        f"{in_gb(conversion_size(needs.unconverted))} of disk in {conversions_folder()} (SPECVINO_CACHE names another "
        f"folder), or {in_gb(memory.total + missing)} of memory"
    )


def plan(budget: MemoryBudget, needs: Needs, cache: int, copies: Sequence[Copy], *, preloaded: bool) -> list[str]:
    """Returns the plan of a model's memory in sentences. `cache` is the size of its KV cache in bytes, 0 if it has no
    limit, and `preloaded` whether the first of the `copies` is loaded at the start.
    """
    memory = budget.read()
    of_cache = f"up to {in_gb(cache)} for its KV cache" if cache else "what its KV cache needs"
    lines = [
        f"{in_gb(memory.available)} of {in_gb(memory.total)} are free, and the server's other processes take up to "
        f"{in_gb(SERVER)}",
        f"the worker takes {in_gb(needs.worker)} (the weights {in_gb(needs.weights)}), {of_cache}, and up to "
        f"{in_gb(needs.reading(cache))} to read prompts' contexts",
    ]
    if needs.preprocess:
        lines.append(f"reading the tokenizer of a GGUF file takes {in_gb(needs.preprocess)}")
    for index, copy in enumerate(copies):
        if copy.size + copy.least > budget.most():
            lines.append(budget.lack(copy.size + copy.least, copy.purpose))
            continue
        least, most = (round(_STARTING + needs.weights / GB * seconds) for seconds in (_LOADING, _LOADING_SLOWLY))
        loading = f"The first one loads it, which takes {least} to {most} s of CPU time"
        lines.append(
            f"{copy.purpose} requires a second copy of the model: {in_gb(copy.size)}, and at least "
            f"{in_gb(copy.least)} more for what it computes. "
            + ("It is loaded at the start" if preloaded and index == 0 else loading)
        )
    left = budget.room()
    lines.append(
        f"{in_gb(left)} are left for processes on demand and for other programs"
        if left >= 0
        else f"{in_gb(-left)} are missing if the KV cache is full, as long as other programs run"
    )
    return lines


def _takes(models: Sequence[Needs], cache: int) -> int:
    return sum(model.with_cache(cache) for model in models)


def _largest(models: Sequence[Needs], room: int) -> float:
    """Returns the size in GB of the largest cache, at least the smallest one."""
    least = max(model.least_cache for model in models)
    size = _rounded(max(0, room) // len(models), least)
    while size * GB > least and _takes(models, int(size * GB)) > room:
        size = _rounded(int(size * GB) - 1, least)
    return size


def _rounded(size: int, least: int) -> float:
    return size // GB if size >= max(GB, least) else max(least, size // CACHE_STEP * CACHE_STEP) / GB
