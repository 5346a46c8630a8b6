"""Are a request's adapters ignored, and is an adapter without a layer accepted?"""

import json
import tempfile
from pathlib import Path

import numpy
from openvino_genai import Adapter, AdapterConfig
from pipelines import config, encode, finish, pipeline, tokens
from verdict import report

WIDTH, RANK = 96, 4


def adapter(file: Path, layer: str) -> Adapter:
    """Writes an adapter with random matrices for the query projection of the first layer, in the format of PEFT."""
    generator = numpy.random.default_rng(0)
    shapes = {"A": (RANK, WIDTH), "B": (WIDTH, RANK)}
    header, data = {}, b""
    for side, shape in shapes.items():
        matrix = generator.normal(0, 1, shape).astype(numpy.float32).tobytes()
        name = f"base_model.model.model.{layer}.0.self_attn.q_proj.lora_{side}.weight"
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(matrix)]}
        data += matrix
    head = json.dumps(header).encode()
    file.write_bytes(len(head).to_bytes(8, "little") + head + data)
    return Adapter(str(file))


prompt = encode("hello")
with tempfile.TemporaryDirectory() as folder:
    known, unknown = (adapter(Path(folder) / f"{layer}.safetensors", layer) for layer in ("layers", "blocks"))
    answers = []
    for loaded, asked in (
        ({}, {}),
        ({"adapters": AdapterConfig(known, 4.0)}, {"adapters": AdapterConfig(known, 4.0)}),
        ({"adapters": AdapterConfig(known, 4.0, mode=AdapterConfig.Mode.MODE_FUSE)}, {}),
        ({"adapters": AdapterConfig(unknown, 4.0, mode=AdapterConfig.Mode.MODE_FUSE)}, {}),
    ):
        pipe = pipeline(**loaded)
        [outputs] = finish(pipe, pipe.add_request(0, prompt, config(**asked)))
        answers.append(tokens(outputs))
plain, of_request, fused, without_layer = answers
if fused == plain:
    raise SystemExit("the adapter should change the answer")
report(
    of_request == plain or without_layer == plain,
    f"a request's adapter is {'ignored' if of_request == plain else 'applied'}, "
    f"one without a layer is {'accepted' if without_layer == plain else 'not'}",
)
