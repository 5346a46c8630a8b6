"""LoRA adapters in PEFT's format, with random matrices."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

Matrix = numpy.typing.NDArray[numpy.float32]
Matrices = dict[str, tuple[Matrix, Matrix]]

RANK = 4
ALPHA = 8
SCALE = ALPHA / RANK

TINY = {"self_attn.q_proj": (96, 96), "self_attn.v_proj": (96, 32), "mlp.down_proj": (192, 96)}
"""Inputs and outputs of modules of the tiny text model."""

_STORED: dict[str, Callable[[Matrix], numpy.typing.NDArray[Any]]] = {
    "F32": lambda tensor: tensor,
    "F16": lambda tensor: tensor.astype(numpy.float16),
    "BF16": lambda tensor: (tensor.view(numpy.uint32) >> 16).astype(numpy.uint16),
}


def matrices(layers: int = 2, modules: Mapping[str, tuple[int, int]] = TINY, seed: int = 0) -> Matrices:
    """Returns two matrices for each module: [rank, inputs] and [outputs, rank]. They change what a model says. Their
    numbers are the same with 16 bits.
    """
    generator = numpy.random.default_rng(seed)

    def random(*shape: int) -> Matrix:
        return (generator.integers(-32, 33, shape) / 64).astype(numpy.float32)

    return {
        f"model.layers.{layer}.{module}": (random(RANK, inputs), random(outputs, RANK))
        for layer in range(layers)
        for module, (inputs, outputs) in modules.items()
    }


def write(folder: Path, content: Matrices, **config: Any) -> Path:
    """Writes the folder of an adapter, and returns it."""
    tensors: dict[str, Matrix] = {}
    for module, (a, b) in content.items():
        tensors |= {f"base_model.model.{module}.lora_A.weight": a, f"base_model.model.{module}.lora_B.weight": b}
    return write_tensors(folder, tensors, **config)


def write_tensors(folder: Path, tensors: Mapping[str, Matrix], dtype: str = "F32", **config: Any) -> Path:
    """Writes an adapter with these tensors, as numbers of this type."""
    folder.mkdir()
    header, data = {}, b""
    for name, tensor in tensors.items():
        part = _STORED[dtype](tensor).tobytes()
        offsets = [len(data), len(data) + len(part)]
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": offsets}
        data += part
    head = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    (folder / "adapter_model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    settings = {"peft_type": "LORA", "r": RANK, "lora_alpha": ALPHA, "bias": "none", **config}
    (folder / "adapter_config.json").write_text(json.dumps(settings), "utf-8")
    return folder
