"""The model as OpenVINO's own runtime has it: tokens in, the scores of the whole vocabulary out (decision 068)."""

import tempfile
from collections.abc import Mapping, Sequence, Set
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
        self._inputs = frozenset(name for port in compiled.inputs for name in port.get_names())
        self._free: list[openvino.InferRequest] = []

    def begin(self) -> "Decoder":
        """Returns what reads a new sequence."""
        return Decoder(self._request(), self._inputs)

    def end(self, decoder: "Decoder") -> None:
        """Takes back what a sequence needs no longer, with its memory."""
        decoder.request.reset_state()
        self._free.append(decoder.request)

    def batch(self) -> "Batch":
        """Returns what reads several sequences at a time; there are none yet."""
        return Batch(self._request(), self._inputs)

    def _request(self) -> openvino.InferRequest:
        return self._free.pop() if self._free else self._compiled.create_infer_request()

    def token_bytes(self) -> int:
        """Tells how much memory the keys and values of a token take, in bytes. Raises RuntimeError for a model that
        remembers something else."""
        decoder = self.begin()
        decoder.read(numpy.zeros(1, numpy.int64))
        states = [each.state for each in decoder.request.query_state()]
        # [sequences, heads, tokens, size]: what makes a batch of them.
        if any(len(state.shape) != 4 or state.shape[2] != 1 for state in states):
            raise RuntimeError("Its state isn't made of keys and values alone, as the full-logits process needs it.")
        size: int = sum(state.byte_size for state in states)
        self.end(decoder)
        return size


class Decoder:
    """Reads one sequence, and remembers what it has read in the request's state: the keys and values of all layers."""

    def __init__(self, request: openvino.InferRequest, inputs: frozenset[str]) -> None:
        self.request = request
        self.length = 0
        self._inputs = inputs

    def read(self, ids: Ids) -> Logits:
        """Returns the scores of what follows each of the next tokens: [tokens, vocabulary]."""
        end = self.length + len(ids)
        positions = numpy.arange(self.length, end, dtype=numpy.int64)[None]
        mask = numpy.ones((1, end), numpy.int64)
        self.length = end
        logits: Logits = _infer(self.request, self._inputs, ids[None], mask, positions, [0])[0]
        return logits


class Batch:
    """Reads a token of each of several sequences at a time: the weights are read once for all of them.

    What they have read is in one state, a row for each, right-aligned: `_mask` says what of a row is none of its own.
    """

    def __init__(self, request: openvino.InferRequest, inputs: frozenset[str]) -> None:
        self._request = request
        self._inputs = inputs
        self._rows: list[int] = []  # of the state, by the ids of the sequences
        self._left: set[int] = set()
        self._mask = numpy.zeros((0, 0), numpy.int64)

    @property
    def ids(self) -> list[int]:
        return [id for id in self._rows if id not in self._left]

    def leave(self, id: int) -> None:
        """Forgets a sequence: at the next reading, or with the memory of all if it is the last one."""
        self._left.add(id)
        if not self.ids:
            self._request.reset_state()
            self._rows, self._left, self._mask = [], set(), numpy.zeros((0, 0), numpy.int64)

    def join(self, joining: Mapping[int, Decoder]) -> None:
        """Adds sequences with what their decoders have read, which may be the same one's."""
        kept = self._kept()
        mask = self._mask[kept]
        used = int(mask.any(axis=0).sum()) if len(kept) else 0
        length = max(used, *(decoder.length for decoder in joining.values()))
        states = [decoder.request.query_state() for decoder in joining.values()]
        for place, own in enumerate(self._request.query_state()):
            rows = [state[place].state.data for state in states]
            rows += [row[None, :, -used:] for row in own.state.data[kept]] if used else []
            whole = numpy.zeros((len(rows), rows[0].shape[1], length, rows[0].shape[3]), rows[0].dtype)
            for row, padded in zip(rows, whole, strict=True):
                padded[:, length - row.shape[2] :] = row[0]
            own.state = openvino.Tensor(whole)
        self._mask = numpy.zeros((len(joining) + len(kept), length), numpy.int64)
        for decoder, padded in zip(joining.values(), self._mask, strict=False):
            padded[length - decoder.length :] = 1
        if used:
            self._mask[len(joining) :, length - used :] = mask[:, -used:]
        self._rows = [*joining, *self.ids]
        self._left.clear()

    def read(self, tokens: Mapping[int, int]) -> dict[int, Logits]:
        """Returns the scores of what follows the next token of each of the sequences: [vocabulary]."""
        kept = self._kept()
        self._rows = self.ids
        self._left.clear()
        ids = numpy.array([[tokens[id]] for id in self._rows], numpy.int64)
        positions = self._mask[kept].sum(axis=1, keepdims=True)
        self._mask = numpy.pad(self._mask[kept], ((0, 0), (0, 1)), constant_values=1)
        logits = _infer(self._request, self._inputs, ids, self._mask, positions, kept)
        return dict(zip(self._rows, logits[:, -1], strict=True))

    def _kept(self) -> list[int]:
        """Returns the rows of those that haven't left."""
        return [row for row, id in enumerate(self._rows) if id not in self._left]


def _infer(
    request: openvino.InferRequest, inputs: Set[str], ids: Ids, mask: Ids, positions: Ids, rows: Sequence[int]
) -> Logits:
    """Reads tokens behind what these rows of the state hold; a model has some of these `inputs`."""
    values = {
        "input_ids": ids,
        "attention_mask": mask,
        "position_ids": positions,
        "beam_idx": numpy.array(rows, numpy.int32),
    }
    logits: Logits = request.infer({name: values[name] for name in inputs})[_LOGITS]
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
