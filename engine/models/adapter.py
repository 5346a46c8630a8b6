"""A LoRA adapter in PEFT's format: its matrices, and whether they are all that it changes in a model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

from specvino.engine.errors import UnusableModel
from specvino.engine.models.folder import read_json
from specvino.engine.models.safetensors_file import StoredTensor, read_header

_WEIGHTS = "adapter_model.safetensors"
CONFIG = "adapter_config.json"

# PEFT 0.19.1 leaves the name of the adapter out of the names of tensors (utils/save_and_load.py), other programs don't.
_MATRIX = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])(\.default)?\.weight")

_DTYPES = ("F32", "F16", "BF16")

# Settings with which an adapter is more than its matrices, or the matrices are applied otherwise (PEFT 0.19.1,
# tuners/lora/config.py).
_BEYOND = (
    "use_dora",
    "use_qalora",
    "use_bdlora",
    "lora_bias",
    "modules_to_save",
    "target_parameters",
    "trainable_token_indices",
    "alora_invocation_tokens",
    "layer_replication",
    "arrow_config",
)

# Initializations that change the weights of the base model, too (PEFT 0.19.1, tuners/lora/layer.py). An adapter that
# was converted to a plain one doesn't state them.
_CHANGED_BASE = ("pissa", "olora", "corda", "loftq", "lora_ga")

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class LoRA:
    """The term added to the output of a module for the input `x`: `scale * b @ a @ x`. The shape of `a` is [rank, in],
    that of `b` [out, rank].
    """

    a: StoredTensor
    b: StoredTensor
    scale: float


def adapter_file(path: Path) -> Path:
    """Returns the file with the matrices of an adapter: a folder of PEFT, or this file in it. Raises ModelLoadError."""
    file = path / _WEIGHTS if path.is_dir() else path
    if not path.exists():
        raise UnusableModel(f"{path}: there is no such file or folder")
    if file.suffix != ".safetensors" or not file.is_file():
        raise UnusableModel(
            f"{path}: is not an adapter in PEFT's format: a folder with {_WEIGHTS} and {CONFIG}, or that file"
        )
    return file


def read_adapter(file: Path) -> Mapping[str, LoRA]:
    """Returns the matrices by the names of the modules that they belong to. Raises ModelLoadError if they are invalid,
    or aren't all that the adapter changes.
    """
    config_file = file.with_name(CONFIG)
    if not config_file.is_file():
        raise UnusableModel(f"{config_file}: there is no such file; it has the scale of the adapter's matrices")
    config = read_json(config_file)
    _require_plain(config_file, config)
    sides: dict[str, dict[str, StoredTensor]] = {}
    other = []
    for name, tensor in read_header(file).items():
        if match := _MATRIX.fullmatch(name):
            sides.setdefault(match["module"], {})[match["side"]] = tensor
        else:
            other.append(name)
    if other or not sides:
        what = f"it has tensors that aren't LoRA matrices of linear layers: {listed(other)}" if other else "it is empty"
        raise UnusableModel(f"{file}: can't be applied: {what}")
    return {module: _lora(file, module, pair, config) for module, pair in sides.items()}


def listed(names: list[str]) -> str:
    """Returns the first of some names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _require_plain(file: Path, config: Mapping[str, object]) -> None:
    """Raises ModelLoadError for an adapter that changes more than the matrices say, or otherwise."""
    kind = config.get("peft_type")
    if kind != "LORA":
        raise UnusableModel(f"{file}: its peft_type must be LORA, not {kind!r}")
    for key in _BEYOND:
        if config.get(key):
            raise UnusableModel(f"{file}: adapters with {key} can't be applied; merge it into its base model")
    bias = config.get("bias", "none")
    if bias != "none":
        raise UnusableModel(f"{file}: adapters with bias {bias!r} can't be applied; merge it into its base model")
    start = config.get("init_lora_weights")
    if isinstance(start, str) and start.lower().startswith(_CHANGED_BASE):
        raise UnusableModel(
            f"{file}: its init_lora_weights, {start!r}, changed the base model as well; convert it to a plain adapter "
            "(path_initial_model_for_weight_conversion in PEFT)"
        )


def _lora(file: Path, module: str, pair: Mapping[str, StoredTensor], config: Mapping[str, object]) -> LoRA:
    a, b = pair.get("A"), pair.get("B")
    if a is None or b is None:
        raise UnusableModel(f"{file}: one of the two matrices of {module} is missing")
    if any(matrix.dtype not in _DTYPES for matrix in (a, b)):
        raise UnusableModel(f"{file}: the matrices of {module} must be of the types {', '.join(_DTYPES)}")
    rank = _setting(file, config, "r", "rank_pattern", module)
    if len(a.shape) != 2 or len(b.shape) != 2 or not a.shape[0] == b.shape[1] == rank:
        shapes = f"{list(a.shape)} and {list(b.shape)}"
        raise UnusableModel(f"{file}: the matrices of {module} are {shapes}, but {CONFIG} states the rank {rank:g}")
    alpha = _setting(file, config, "lora_alpha", "alpha_pattern", module)
    return LoRA(a, b, alpha / (sqrt(rank) if config.get("use_rslora") else rank))


def _setting(file: Path, config: Mapping[str, object], key: str, patterns: str, module: str) -> float:
    """Returns a setting of a module: that of the first pattern that matches the end of its name, else that of all
    (`get_pattern_key` in PEFT).
    """
    value = config.get(key)
    of_modules = config.get(patterns) or {}
    if isinstance(of_modules, dict):
        matching = (pattern for pattern in of_modules if _ends_with(module, pattern))
        value = next((of_modules[pattern] for pattern in matching), value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise UnusableModel(f"{file.with_name(CONFIG)}: {key} must be a positive number, not {value!r}")
    return value


def _ends_with(module: str, pattern: str) -> bool:
    try:
        return re.fullmatch(rf"(.*\.)?({pattern})", module) is not None
    except re.error:
        return False
