"""Weights without zero points, of a converted GGUF file and of models of one multiplication that are like it."""

from pathlib import Path
from typing import Any

import numpy
import openvino
import pytest
from gguf import GGMLQuantizationType
from openvino import opset13
from support.qwen3_gguf import write as write_gguf

from specvino.engine.models.conversions import converted
from specvino.engine.models.folder import FILES
from specvino.engine.models.signed_weights import sign_weights

ROWS, GROUPS, GROUP = 8, 2, 32
BITS = {openvino.Type.u4: 4, openvino.Type.u8: 8}
# Without 8-bit activations, so that the same values have the same products.
EXACT = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}


def constant(values: numpy.ndarray[Any, Any], type: openvino.Type) -> openvino.Node:
    """A constant of unsigned integers, of which those of four bits lie two in a byte, the first one lower."""
    if BITS[type] == 8:
        return opset13.constant(values.astype(numpy.uint8))
    halves = values.astype(numpy.uint8).reshape(-1, 2)
    packed = halves[:, 0] | halves[:, 1] << 4
    return opset13.constant(openvino.Tensor(packed, list(values.shape), type))


def write(folder: Path, type: openvino.Type, zero_point: int, uses: int = 1) -> None:
    """Writes a model that multiplies by random weights. The groups' scales are random, too; the last zero point is
    `zero_point`, the others the middle. `uses` multiplications have the same weights."""
    drawn = numpy.random.default_rng(0)
    weights = constant(drawn.integers(0, 2 ** BITS[type], (ROWS, GROUPS, GROUP)), type)
    points = numpy.full((ROWS, GROUPS, 1), 2 ** (BITS[type] - 1))
    points[-1] = zero_point
    scales = opset13.constant(drawn.random((ROWS, GROUPS, 1), numpy.float32).astype(numpy.float16))
    given = opset13.parameter([-1, GROUPS * GROUP], openvino.Type.f32)
    outputs = []
    for _ in range(uses):
        differences = opset13.subtract(opset13.convert(weights, "f16"), opset13.convert(constant(points, type), "f16"))
        rows = opset13.reshape(opset13.multiply(differences, scales), [ROWS, GROUPS * GROUP], special_zero=False)
        outputs.append(opset13.matmul(given, opset13.convert(rows, "f32"), False, True))
    openvino.save_model(openvino.Model(outputs, [given]), folder / FILES[0], compress_to_fp16=False)


def products(folder: Path) -> list[numpy.ndarray[Any, Any]]:
    model = openvino.Core().compile_model(folder / FILES[0], "CPU", EXACT)
    results = model(numpy.eye(GROUPS * GROUP, dtype=numpy.float32))
    return [results[output] for output in model.outputs]


def types(folder: Path) -> set[str]:
    """The types of the integers in the model."""
    nodes = openvino.Core().read_model(folder / FILES[0]).get_ordered_ops()
    names = {node.get_element_type().get_type_name() for node in nodes if node.get_type_name() == "Constant"}
    return names & {"u4", "i4", "u8", "i8"}


@pytest.mark.parametrize(
    ("type", "middle", "signed"), [(openvino.Type.u4, 8, "i4"), (openvino.Type.u8, 128, "i8")], ids=["u4", "u8"]
)
def test_the_values_stay_the_same(type: openvino.Type, middle: int, signed: str, tmp_path: Path) -> None:
    write(tmp_path, type, middle)
    [before] = products(tmp_path)
    assert sign_weights(tmp_path) == 1
    assert types(tmp_path) == {signed}
    [after] = products(tmp_path)
    assert numpy.array_equal(before, after)
    assert before.min() < 0 < before.max()


@pytest.mark.parametrize(("zero_point", "uses"), [(7, 1), (8, 2)], ids=["another zero point", "two uses"])
def test_others_stay_as_they_are(zero_point: int, uses: int, tmp_path: Path) -> None:
    write(tmp_path, openvino.Type.u4, zero_point, uses)
    weights = (tmp_path / FILES[1]).read_bytes()
    before = products(tmp_path)
    assert sign_weights(tmp_path) == 0
    assert (tmp_path / FILES[1]).read_bytes() == weights
    assert numpy.array_equal(before, products(tmp_path))


@pytest.mark.parametrize(
    ("quantization", "expected"),
    [("Q4_0", {"i4"}), ("Q8_0", {"i8"}), ("Q4_1", {"u4"}), ("F16", set())],
)
def test_types_of_a_converted_file(
    quantization: str, expected: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVINO_CACHE", str(tmp_path))
    file = write_gguf(tmp_path / "m.gguf", quantization=GGMLQuantizationType[quantization])
    folder = converted(file)
    assert folder is not None
    folder.release()
    assert types(folder.path) == expected
