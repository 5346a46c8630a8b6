"""Memory of the machine, the container and devices, and how much of it the KV cache and a second copy of a model may
use.
"""

import json
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.processes.lifeline import tied

# The cache gets a quarter of the memory: the model and the tensors of a step need the rest.
_SHARE = 4

_CONTAINER = Path("/sys/fs/cgroup")

# Peak memory of a loading process with OpenVINO 2026.4.1: a GGUF file of 830 MB (1.7 billion weights) 2,575 MB, an
# OpenVINO folder of 744 MB with the same weights 1,951 MB, one of 92 MB 383 MB.
_LOAD_TIMES = 3.2
_LOAD_BESIDE = 200 * 2**20


def default_cache_size(container: Path = _CONTAINER, device_memory: int | None = None, sharing: int = 1) -> int:
    """Returns the default of `--cache-size` in gigabytes, at least one: a quarter of the memory of the machine, of the
    container (the cgroup v2 folder), or of a device with memory of its own (in bytes), divided by the number of models
    `sharing` it.

    The machine's memory is allocated as it is used.
    """
    if device_memory is not None:
        return max(1, device_memory // _SHARE // sharing // 2**30)
    memory = psutil.virtual_memory().total
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        memory = min(memory, _number(container / "memory.max"))
    return max(1, memory // _SHARE // sharing // 2**30)


def available(container: Path = _CONTAINER) -> int:
    """Returns how many bytes of the machine's memory, and of the container's, processes can still allocate."""
    free: int = psutil.virtual_memory().available
    with suppress(OSError, ValueError):
        # The kernel's page cache counts as used there, but can be reclaimed.
        cached = sum(
            int(amount)
            for name, amount in map(str.split, (container / "memory.stat").read_text("ascii").splitlines())
            if name in ("active_file", "inactive_file")
        )
        free = min(free, _number(container / "memory.max") - _number(container / "memory.current") + cached)
    return free


def needed_to_load(path: Path) -> int:
    """Returns roughly the peak memory (bytes) of a process that loads a model: an OpenVINO folder, or a .gguf file."""
    weights = path.glob("*.bin") if path.is_dir() else [path]
    return int(_LOAD_TIMES * sum(file.stat().st_size for file in weights)) + _LOAD_BESIDE


def _number(file: Path) -> int:
    return int(file.read_text("ascii"))


def device_memory(options: PipelineOptions) -> int | None:
    """Returns the size of the device's own memory in bytes, None if it uses the machine's. Raises ValueError if the
    device isn't available, or its plugin doesn't have a property.

    A separate process queries OpenVINO, since a crashing driver would end the server.
    """
    if options == PipelineOptions(options.max_num_batched_tokens):
        return None  # a CPU is always available
    with tied("specvino.engine.openvino.native.devices", options.device, json.dumps(dict(options.plugin_config))) as (
        command,
        fds,
    ):
        query = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, pass_fds=fds, text=True
        )
    if query.returncode:
        lines = query.stderr.strip().splitlines()
        raise ValueError(lines[-1] if lines else f"OpenVINO ended with code {query.returncode} on {options.device}")
    memory: int | None = json.loads(query.stdout)["memory"]
    return memory
