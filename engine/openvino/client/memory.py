"""How much memory there is, and how much of it the KV cache and a further copy of a model may take."""

import json
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.processes.lifeline import tied

# Of the machine's memory: the model has to fit beside it, and so has what a step computes.
_SHARE = 4

_CONTAINER = Path("/sys/fs/cgroup")

# OpenVINO 2026.4.1, 1.7 billion weights: at its peak a process that loads 830 MB of GGUF has 2,575 MB, one that loads
# 744 MB of an OpenVINO folder 1,951 MB; one of 92 MB has 383 MB.
_LOAD_TIMES = 3.2
_LOAD_BESIDE = 200 * 2**20


def default_cache_size(container: Path = _CONTAINER, device_memory: int | None = None, sharing: int = 1) -> int:
    """Returns gigabytes, at least one: a quarter of the machine's memory, or of the container's (the cgroup v2 folder),
    or of that of a device with memory of its own (in bytes). So many models are `sharing` it.

    The machine's are taken from the machine only as they are used.
    """
    if device_memory is not None:
        return max(1, device_memory // _SHARE // sharing // 2**30)
    memory = psutil.virtual_memory().total
    with suppress(OSError, ValueError):  # no container, or one without a limit ("max")
        memory = min(memory, _number(container / "memory.max"))
    return max(1, memory // _SHARE // sharing // 2**30)


def available(container: Path = _CONTAINER) -> int:
    """Returns how many bytes processes can still take, of the machine's memory and of the container's."""
    free: int = psutil.virtual_memory().available
    with suppress(OSError, ValueError):
        # What the kernel keeps of files counts as used there, and is given back.
        cached = sum(
            int(amount)
            for name, amount in map(str.split, (container / "memory.stat").read_text("ascii").splitlines())
            if name in ("active_file", "inactive_file")
        )
        free = min(free, _number(container / "memory.max") - _number(container / "memory.current") + cached)
    return free


def needed_to_load(path: Path) -> int:
    """Returns about how many bytes a process takes at its peak while it loads a model: an OpenVINO folder, or a .gguf
    file."""
    weights = path.glob("*.bin") if path.is_dir() else [path]
    return int(_LOAD_TIMES * sum(file.stat().st_size for file in weights)) + _LOAD_BESIDE


def _number(file: Path) -> int:
    return int(file.read_text("ascii"))


def device_memory(options: PipelineOptions) -> int | None:
    """Returns the bytes of memory of the device's own, None where it takes the machine's. Raises ValueError if the
    device, or a property for its plugin, can't be had."""
    if options == PipelineOptions(options.max_num_batched_tokens):
        return None  # a CPU is always there
    with tied("specvino.engine.openvino.native.devices", options.device, json.dumps(dict(options.plugin_config))) as (
        command,
        fds,
    ):
        asked = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, pass_fds=fds, text=True
        )
    if asked.returncode:
        lines = asked.stderr.strip().splitlines()
        raise ValueError(lines[-1] if lines else f"OpenVINO ended with code {asked.returncode} on {options.device}")
    memory: int | None = json.loads(asked.stdout)["memory"]
    return memory
