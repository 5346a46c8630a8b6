"""The memory of a device."""

import json
import subprocess

from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.processes.lifeline import tied


def device_memory(options: PipelineOptions) -> int | None:
    """Returns the size of the device's own memory in bytes, None if it uses the machine's. Raises ValueError if the
    device isn't available, or its plugin doesn't have a property.

    A separate process queries OpenVINO, since a crashing driver would end the server.
    """
    default = PipelineOptions()
    if (options.device, options.plugin_config) == (default.device, default.plugin_config):
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
    size: int | None = json.loads(query.stdout)["memory"]
    return size
