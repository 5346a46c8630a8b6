"""Which options are worth a try on a machine."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import openvino
import psutil

from specvino.engine.openvino.messages.options import PipelineOptions, PluginValue


@dataclass(frozen=True, slots=True)
class Machine:
    """Says what decides which options can help. `precisions` are those that its cores compute in, as OpenVINO names
    them."""

    name: str
    cores: int
    threads: int
    precisions: frozenset[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Holds a change of the options. Of those with the same `subject` at most one is chosen."""

    subject: str
    max_num_batched_tokens: int | None = None
    plugin_config: dict[str, PluginValue] = field(default_factory=dict)

    def applied(self, options: PipelineOptions) -> PipelineOptions:
        if self.max_num_batched_tokens is not None:
            options = replace(options, max_num_batched_tokens=self.max_num_batched_tokens)
        return replace(options, plugin_config={**options.plugin_config, **self.plugin_config})


def this_machine() -> Machine:
    core = openvino.Core()
    return Machine(
        core.get_property("CPU", "FULL_DEVICE_NAME"),
        psutil.cpu_count(logical=False) or 1,
        psutil.cpu_count() or 1,
        frozenset(core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")),
    )


def candidates(machine: Machine) -> Iterator[Candidate]:
    """Yields those that may help most first."""
    if "BF16" in machine.precisions:
        yield Candidate("precision", plugin_config={"INFERENCE_PRECISION_HINT": "bf16"})
    for tokens in (512, 1024, 128):
        yield Candidate("step", tokens)
    for threads in sorted({machine.cores, machine.cores - 1, machine.threads - 1} - {machine.threads, 0}):
        yield Candidate("threads", plugin_config={"INFERENCE_NUM_THREADS": threads})
    yield Candidate("pinning", plugin_config={"ENABLE_CPU_PINNING": False})
    yield Candidate("quantization", plugin_config={"DYNAMIC_QUANTIZATION_GROUP_SIZE": 128})
