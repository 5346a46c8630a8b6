"""The devices that a pipeline may run on, and what their plugins take.

As a program it says whether a device and its properties can be had, before anything is pulled or loaded:
`python -m …devices DEVICE PROPERTIES`.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import openvino

from specvino.engine.openvino.messages.options import PluginValue

# OpenVINO 2026.4.1: fastest for decoding, and the same answers on every CPU (decision 049). Other devices have their
# own defaults.
_ON_CPU: Mapping[str, PluginValue] = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "u8"}

# And the same answers to a prompt again and again (decision 072). AUTO and HETERO don't pass it on, BATCH refuses it.
_OF_CPU_ALONE: Mapping[str, PluginValue] = {"KEY_CACHE_QUANT_MODE": "BY_TOKEN"}

# Else AUTO begins on the CPU and goes on to another device, whose cache is another one.
_OF_AUTO: Mapping[str, PluginValue] = {"ENABLE_STARTUP_FALLBACK": False}

# OpenVINO's devices that are made of others. MULTI is left out: on it GenAI 2026.4.1 can't make its cache, and the
# process may die of it (decision 066).
_MADE_OF_OTHERS = ("AUTO", "HETERO", "BATCH")

# The tokens of a block of the cache in GenAI 2026.4.1 (kv_cache_manager.hpp).
_CPU_BLOCK, _GPU_BLOCK = 32, 16


class Core(Protocol):
    """Is what is used of `openvino.Core`."""

    @property
    def available_devices(self) -> Sequence[str]: ...

    def get_property(self, device: str, name: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class Device:
    """Is a device for `ContinuousBatchingPipeline`, and the properties for its plugin.

    A block of the cache has `block` tokens there, or more. `memory` is a GPU's own, in bytes.
    """

    name: str
    properties: Mapping[str, PluginValue]
    block: int
    memory: int | None


def chosen(name: str, given: Mapping[str, PluginValue], core: Core | None = None) -> Device:
    """Returns the device of this name; the `given` properties come before ours. Raises ValueError if OpenVINO doesn't
    have it here, the pipeline can't run on it, or its plugins don't know a property."""
    core = core or openvino.Core()
    kind, named, targets = _targets(name, core.available_devices)
    # A GPU may have several names; all others run on CPUs.
    gpus = [target for target in targets if target.startswith("GPU")]
    ours: dict[str, PluginValue] = {} if gpus else dict(_ON_CPU)
    if ours and kind is None:
        ours |= _OF_CPU_ALONE
    if kind == "AUTO" and len(targets) > 1:
        ours |= _OF_AUTO
    plugins = list(dict.fromkeys([*([kind] if kind else []), *targets]))
    _require_known(given, plugins, core)
    memory = min((core.get_property(gpu, "GPU_DEVICE_TOTAL_MEM_SIZE") for gpu in gpus), default=None)
    return Device(named, {**ours, **given}, _GPU_BLOCK if gpus else _CPU_BLOCK, memory)


def _targets(name: str, listed: Sequence[str]) -> tuple[str | None, str, list[str]]:
    """Returns what the device is made by (AUTO), its name for OpenVINO, and the devices that it may run on."""
    kind, _, rest = name.partition(":")
    if kind == "MULTI":
        raise ValueError("OpenVINO GenAI's continuous batching doesn't run on MULTI; AUTO takes one of several devices")
    if kind not in _MADE_OF_OTHERS:
        _require_listed([name], listed)
        return None, name, [name]
    said = [each.partition("(")[0] for each in rest.split(",") if each]
    wanted = [each for each in said if not each.startswith("-")]
    without = [each[1:] for each in said if each.startswith("-")]
    if kind != "AUTO" and not wanted:
        raise ValueError(f"{kind} is made of devices, such as {kind}:{listed[0]}; OpenVINO lists: {_in_words(listed)}")
    _require_listed(wanted, listed)
    if wanted:
        return kind, name, wanted
    if any(_is(each, "NPU") for each in listed) and "NPU" not in without:
        name = f"{kind}:{','.join([*said, '-NPU'])}"
        without.append("NPU")
    left = [each for each in listed if not any(_is(each, other) for other in without)]
    if not left:
        raise ValueError(f"{name} leaves no device; OpenVINO lists: {_in_words(listed)}")
    return kind, name, left


def _require_listed(names: Sequence[str], listed: Sequence[str]) -> None:
    for name in names:
        if not any(_is(each, name) for each in listed):
            raise ValueError(
                f"{name!r} is no device that OpenVINO has on this machine; it lists: {_in_words(listed)}, and they can "
                "be named together, as in AUTO, AUTO:A,B or HETERO:A,B"
            )
        if _is(name, "NPU"):
            raise ValueError(
                f"OpenVINO GenAI's continuous batching doesn't run on an NPU; OpenVINO lists: {_in_words(listed)}"
            )


def _is(listed: str, name: str) -> bool:
    """Tells whether a name means a listed device: GPU is GPU.0, too."""
    return listed == name or listed.startswith(f"{name}.")


def _in_words(names: Sequence[str]) -> str:
    return ", ".join(names)


def _require_known(given: Mapping[str, PluginValue], plugins: Sequence[str], core: Core) -> None:
    """GenAI has properties of its own, and passes over unknown ones."""
    if not given:
        return
    settable: set[str] = set()
    for plugin in plugins:
        known = core.get_property(plugin, "SUPPORTED_PROPERTIES")
        settable |= {name for name, access in known.items() if access == "RW"}
    for name in given:
        if name not in settable:
            whose = f"{' and '.join(plugins)} plugin{'s' if len(plugins) > 1 else ''}"
            raise ValueError(f"{name} is no property of OpenVINO's {whose}; there are: {', '.join(sorted(settable))}")


if __name__ == "__main__":
    try:
        print(json.dumps({"memory": chosen(sys.argv[1], json.loads(sys.argv[2])).memory}))
    except (ValueError, RuntimeError) as error:
        sys.exit(" ".join(str(error).split()))
