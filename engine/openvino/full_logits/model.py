"""The model as OpenVINO's own runtime has it: tokens in, the scores of the whole vocabulary out (decision 068)."""

import tempfile
from pathlib import Path

import numpy
import numpy.typing
import openvino
import openvino_genai

from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.native.devices import chosen

Ids = numpy.typing.NDArray[numpy.int64]
Logits = numpy.typing.NDArray[numpy.float32]

# Its probabilities are why this path is taken: no 8-bit activations and no 8-bit cache, each of which changes logprobs
# by up to 0.3, and one of 16 bits by 0.02.
_EXACT = {"DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "KV_CACHE_PRECISION": "f32"}

_MODEL = "openvino_model.xml"
_LOGITS = "logits"


class FullLogitsModel:
    """A model that is compiled once: its weights are in the memory once, however many sequences it has."""

    def __init__(self, compiled: openvino.CompiledModel) -> None:
        self._compiled = compiled
        self._free: list[openvino.InferRequest] = []

    def begin(self) -> "Decoder":
        """Returns what reads a new sequence."""
        request = self._free.pop() if self._free else self._compiled.create_infer_request()
        return Decoder(request)

    def end(self, decoder: "Decoder") -> None:
        """Takes back what a sequence needs no longer, with its memory."""
        request = decoder.request
        request.reset_state()
        self._free.append(request)

    def token_bytes(self) -> int:
        """Tells how much memory the keys and values of a token take, in bytes."""
        decoder = self.begin()
        decoder.read(numpy.zeros(1, numpy.int64))
        found: int = sum(state.state.byte_size for state in decoder.request.query_state())
        self.end(decoder)
        return found


class Decoder:
    """Reads one sequence, and remembers what it has read in the request's state: the keys and values of all layers."""

    def __init__(self, request: openvino.InferRequest) -> None:
        self.request = request
        self.length = 0
        self._inputs = {name for port in request.model_inputs for name in port.get_names()}

    def take(self, other: "Decoder") -> None:
        """Remembers what another one has read."""
        for own, its in zip(self.request.query_state(), other.request.query_state(), strict=True):
            own.state = its.state
        self.length = other.length

    def read(self, ids: Ids) -> Logits:
        """Returns the scores of what follows each of the next tokens: [tokens, vocabulary]."""
        end = self.length + len(ids)
        values = {
            "input_ids": ids.reshape(1, -1),
            "attention_mask": numpy.ones((1, end), numpy.int64),
            "position_ids": numpy.arange(self.length, end, dtype=numpy.int64).reshape(1, -1),
            "beam_idx": numpy.zeros(1, numpy.int32),
        }
        self.length = end
        result = self.request.infer({name: values[name] for name in self._inputs})
        logits: Logits = result[_LOGITS][0]
        return logits


def load(path: str, options: PipelineOptions) -> FullLogitsModel:
    """Loads the model of an OpenVINO folder or a .gguf file. Raises RuntimeError or ValueError."""
    device = chosen(options.device, options.plugin_config)
    properties = {**device.properties, **(_EXACT if device.memory is None else {}), **options.plugin_config}
    core = openvino.Core()
    if Path(path).is_dir():
        return FullLogitsModel(core.compile_model(Path(path) / _MODEL, device.name, properties))
    with tempfile.TemporaryDirectory() as folder:
        gguf = Path(folder) / "model.gguf"
        gguf.symlink_to(Path(path).absolute())
        openvino_genai.LLMPipeline(gguf, "CPU", enable_save_ov_model=True)  # it writes the model beside the file
        return FullLogitsModel(core.compile_model(Path(folder) / _MODEL, device.name, properties))
