"""Asks about a device before anything is pulled or loaded.

OpenVINO isn't loaded into the server for it: a driver that crashes would take the server along.
"""

import json
import subprocess

from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.processes.tied import tied


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
