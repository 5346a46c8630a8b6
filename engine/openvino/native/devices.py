"""The devices that run a pipeline, and the properties of their plugins. `python -m …devices DEVICE PROPERTIES` checks a
device and its properties before a model is pulled or loaded.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Protocol

import openvino

from specvino.engine.openvino.messages.options import PluginValue

# OpenVINO 2026.4.1: fastest for decoding, and the same answers on every CPU (decision 049). Other devices have their
# own defaults.
_ON_CPU: Mapping[str, PluginValue] = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "u8"}

# For the same answer to a repeated prompt (decision 072). AUTO and HETERO don't pass it on; BATCH rejects it.
_OF_CPU_ALONE: Mapping[str, PluginValue] = {"KEY_CACHE_QUANT_MODE": "BY_TOKEN"}

# Otherwise AUTO starts on the CPU and moves to another device with its own cache.
_OF_AUTO: Mapping[str, PluginValue] = {"ENABLE_STARTUP_FALLBACK": False}

# OpenVINO's virtual devices. MULTI isn't supported: GenAI 2026.4.1 can't create its cache there, and the process may
# crash (decision 066).
_VIRTUAL = ("AUTO", "HETERO", "BATCH")

# The tokens of a block of the cache in GenAI 2026.4.1 (kv_cache_manager.hpp).
_CPU_BLOCK, _GPU_BLOCK = 32, 16


class Core(Protocol):
    """The part of `openvino.Core` that is used."""

    @property
    def available_devices(self) -> Sequence[str]: ...

    def get_property(self, device: str, name: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class Device:
    """A device for `ContinuousBatchingPipeline`, and the properties for its plugin. A cache block has at least `block`
    tokens. `memory` is the dedicated memory of a GPU, in bytes.
    """

    name: str
    properties: Mapping[str, PluginValue]
    block: int
    memory: int | None


def chosen(name: str, requested: Mapping[str, PluginValue], core: Core | None = None) -> Device:
    """Returns the device with this name; the `requested` properties take precedence over ours. Raises ValueError if it
    isn't available, the pipeline doesn't run on it, or a property is unknown.
    """
    core = core or openvino.Core()
    kind, named, targets = _targets(name, core.available_devices)
    # Every device that isn't a GPU runs on the CPU.
    gpus = [target for target in targets if target.startswith("GPU")]
    ours: dict[str, PluginValue] = {} if gpus else dict(_ON_CPU)
    if ours and kind is None:
        ours |= _OF_CPU_ALONE
    if kind == "AUTO" and len(targets) > 1:
        ours |= _OF_AUTO
    plugins = list(dict.fromkeys([*([kind] if kind else []), *targets]))
    _require_known(requested, plugins, core)
    memory = min((core.get_property(gpu, "GPU_DEVICE_TOTAL_MEM_SIZE") for gpu in gpus), default=None)
    return Device(named, {**ours, **requested}, _GPU_BLOCK if gpus else _CPU_BLOCK, memory)


def _targets(name: str, listed: Sequence[str]) -> tuple[str | None, str, list[str]]:
    """Returns the virtual device (such as AUTO) or None, the name for OpenVINO, and the devices that may be used."""
    kind, _, rest = name.partition(":")
    if kind == "MULTI":
        raise ValueError("OpenVINO GenAI's continuous batching doesn't support MULTI; use AUTO, which picks one device")
    if kind not in _VIRTUAL:
        _require_listed([name], listed)
        return None, name, [name]
    parts = [part.partition("(")[0] for part in rest.split(",") if part]
    included = [part for part in parts if not part.startswith("-")]
    excluded = [part[1:] for part in parts if part.startswith("-")]
    if kind != "AUTO" and not included:
        raise ValueError(f"{kind} needs devices, as in {kind}:{listed[0]}; available: {_in_words(listed)}")
    _require_listed(included, listed)
    if included:
        return kind, name, included
    if any(_is(device, "NPU") for device in listed) and "NPU" not in excluded:
        name = f"{kind}:{','.join([*parts, '-NPU'])}"
        excluded.append("NPU")
    left = [device for device in listed if not any(_is(device, other) for other in excluded)]
    if not left:
        raise ValueError(f"{name} excludes all devices; available: {_in_words(listed)}")
    return kind, name, left


def _require_listed(names: Sequence[str], listed: Sequence[str]) -> None:
    for name in names:
        if not any(_is(device, name) for device in listed):
            near = get_close_matches(name.upper(), [*listed, *_VIRTUAL], n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ValueError(
                f"{name!r} isn't an OpenVINO device of this machine; {hint}available: {_in_words(listed)}, and "
                "combinations such as AUTO, AUTO:A,B or HETERO:A,B"
            )
        if _is(name, "NPU"):
            raise ValueError(
                f"OpenVINO GenAI's continuous batching doesn't run on an NPU; available: {_in_words(listed)}"
            )


def _is(listed: str, name: str) -> bool:
    """Returns whether a name refers to a listed device: GPU is GPU.0, too."""
    return listed == name or listed.startswith(f"{name}.")


def _in_words(names: Sequence[str]) -> str:
    return ", ".join(names)


def _require_known(requested: Mapping[str, PluginValue], plugins: Sequence[str], core: Core) -> None:
    """Raises ValueError for an unknown property, which GenAI would ignore."""
    if not requested:
        return
    settable: set[str] = set()
    for plugin in plugins:
        known = core.get_property(plugin, "SUPPORTED_PROPERTIES")
        settable |= {name for name, access in known.items() if access == "RW"}
    for name in requested:
        if name not in settable:
            whose = f"{' and '.join(plugins)} plugin{'s' if len(plugins) > 1 else ''}"
            raise ValueError(f"{name} isn't a property of OpenVINO's {whose}; known: {', '.join(sorted(settable))}")


if __name__ == "__main__":
    try:
        print(json.dumps({"memory": chosen(sys.argv[1], json.loads(sys.argv[2])).memory}))
    except (ValueError, RuntimeError) as error:
        sys.exit(" ".join(str(error).split()))
