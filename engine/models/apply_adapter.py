"""Writes the model of an OpenVINO folder with a LoRA adapter as a further folder (decision 082). This is a separate
program because OpenVINO blocks the interpreter while it writes.
"""

import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy
import openvino
from openvino import opset13

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.adapter import LoRA, listed, read_adapter
from specvino.engine.models.folder import FILES, open_folder
from specvino.engine.models.safetensors_file import StoredTensor

_MODEL, _WEIGHTS = FILES[:2]

_TYPES = {"F32": openvino.Type.f32, "F16": openvino.Type.f16, "BF16": openvino.Type.bf16}

# The linear layers of a layer, in the order in which OpenVINO GenAI 2026.4.1 builds a model from a GGUF file
# (gguf_utils/building_blocks.cpp, `layer`); it doesn't name them, and undoes the permutation of Llama's weights there.
_OF_GGUF = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
)
_UNNAMED = re.compile(r"MatMul_(\d+)")

# GenAI 2026.4.1 computes the last layer for sampled tokens only, and finds its input at the MatMul before the output:
# that of the adapter would have all tokens, and a step raises.
_LAST = "lm_head"


def apply_adapter(base: Path, file: Path, target: Path) -> None:
    """Writes the model in `base`, with the adapter in this file, to an empty folder. Raises ModelLoadError."""
    matrices = read_adapter(file)
    model = openvino.Core().read_model(base / _MODEL)
    linear = [node for node in model.get_ordered_ops() if _is_linear(node)]
    named = dict(_of_gguf(linear) if open_folder(base).gguf else _of_export(linear))
    _require_layers(base, file, matrices, named)
    with file.open("rb") as data:
        stored = data.read()
    for module, lora in matrices.items():
        _add(named[module], lora, stored)
    openvino.serialize(model, target / _MODEL, target / _WEIGHTS)
    for other in base.iterdir():
        if other.is_file() and other.name not in (_MODEL, _WEIGHTS):
            shutil.copyfile(other, target / other.name)
    open_folder(target)  # as every start will


def _is_linear(node: openvino.Node) -> bool:
    """Returns whether a node multiplies by weights."""
    return node.get_type_name() == "MatMul" and len(_weights_shape(node)) == 2


def _weights_shape(node: openvino.Node) -> tuple[int, ...]:
    shape = node.input(1).get_partial_shape()
    return tuple(shape.to_shape()) if shape.is_static else ()


def _of_export(linear: Iterable[openvino.Node]) -> Iterator[tuple[str, openvino.Node]]:
    """Yields the modules of a model that was exported from PyTorch: the scopes in the names of the nodes."""
    for node in linear:
        yield node.get_friendly_name().removeprefix("__module.").partition("/")[0], node


def _of_gguf(linear: Iterable[openvino.Node]) -> Iterator[tuple[str, openvino.Node]]:
    numbered = {int(match[1]): node for node in linear if (match := _UNNAMED.fullmatch(node.get_friendly_name()))}
    nodes = [numbered[number] for number in sorted(numbered)]
    if len(nodes) % len(_OF_GGUF) != 1:
        raise ModelLoadError("adapters can't be applied to a model that was built from a GGUF file in this way")
    for index, node in enumerate(nodes[:-1]):
        layer, position = divmod(index, len(_OF_GGUF))
        yield f"model.layers.{layer}.{_OF_GGUF[position]}", node
    yield _LAST, nodes[-1]


def _require_layers(base: Path, file: Path, matrices: Mapping[str, LoRA], named: Mapping[str, openvino.Node]) -> None:
    """Raises ModelLoadError if a matrix has no layer, or one of another size."""
    unknown = [module for module in matrices if module not in named]
    if unknown:
        raise ModelLoadError(f"{file}: is not an adapter of {base.name}, which has no layer {listed(unknown)}")
    if _LAST in matrices:
        raise ModelLoadError(f"{file}: an adapter of {_LAST} can't be applied; merge it into its base model")
    for module, lora in matrices.items():
        transposed = named[module].get_attributes()["transpose_b"]
        out, into = _weights_shape(named[module])[:: 1 if transposed else -1]
        if (lora.b.shape[0], lora.a.shape[1]) != (out, into):
            raise ModelLoadError(
                f"{file}: is not an adapter of {base.name}: its matrices are for {lora.a.shape[1]} inputs and "
                f"{lora.b.shape[0]} outputs of {module}, which has {into} and {out}"
            )


def _add(node: openvino.Node, lora: LoRA, stored: bytes) -> None:
    """Adds the product of an input and the matrices to the output of a node."""
    a, b = _constant(lora.a, stored), _constant(lora.b, stored)
    consumers = node.output(0).get_target_inputs()
    low = opset13.matmul(node.input_value(0), a, transpose_a=False, transpose_b=True)
    scaled = opset13.multiply(low, opset13.constant(numpy.float32(lora.scale)))
    change = opset13.matmul(scaled, b, transpose_a=False, transpose_b=True)
    changed = opset13.add(node.output(0), change)
    for consumer in consumers:
        consumer.replace_source_output(changed.output(0))


def _constant(tensor: StoredTensor, stored: bytes) -> openvino.Node:
    """Returns a matrix as a node of 32-bit floats; the file keeps its own type."""
    data = numpy.frombuffer(stored, numpy.uint8, tensor.end - tensor.start, tensor.start)
    constant = opset13.constant(openvino.Tensor(data, openvino.Shape(tensor.shape), _TYPES[tensor.dtype]))
    return constant if tensor.dtype == "F32" else opset13.convert(constant, "f32")


if __name__ == "__main__":
    try:
        apply_adapter(*map(Path, sys.argv[1:]))
    except ModelLoadError as error:
        sys.exit(str(error))
