"""What a run was measured on."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil


def described() -> dict[str, Any]:
    """The processor, the versions and how busy the machine is with other work: figures without it say little."""
    name, flags = _processor()
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "amx": "amx_tile" in flags,
        "memory_gb": round(psutil.virtual_memory().total / 2**30),
        "system": platform.platform(),
        "python": platform.python_version(),
        "openvino_genai": version("openvino-genai"),
        "specvino": version("specvino"),
        "load_average": round(os.getloadavg()[0], 1),
    }


def cpu_of_all(pid: int) -> float:
    """The CPU time of a process and those that it started, so far. It says what work costs on a busy machine, too."""
    process = psutil.Process(pid)
    return sum(cpu_seconds(member.pid) for member in [process, *process.children(recursive=True)])


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process so far, to the microsecond where the system tells (Linux)."""
    clock = (~pid << 3) | 2  # clock_getcpuclockid(3), which Python hasn't
    try:
        return time.clock_gettime(clock)
    except OSError:
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system


def _processor() -> tuple[str, frozenset[str]]:
    file = Path("/proc/cpuinfo")
    fields: dict[str, str] = {}
    if file.exists():
        for line in file.read_text("utf-8").splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    return fields.get("model name", platform.processor()), frozenset(fields.get("flags", "").split())
