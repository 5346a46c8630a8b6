"""The model as OpenVINO's own runtime has it: tokens in, the scores of the whole vocabulary out (decision 068)."""

import tempfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

import numpy
import numpy.typing
import openvino
import openvino_genai
from openvino_genai import GenerationConfig

from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.native.devices import chosen
from specvino.engine.openvino.native.tokenizer import load_tokenizer

Ids = numpy.typing.NDArray[numpy.int64]
Logits = numpy.typing.NDArray[numpy.float32]

# Its probabilities are why this path is taken: no 8-bit activations and no 8-bit cache, each of which changes logprobs
# by up to 0.3, and one of 16 bits by 0.02.
_EXACT = {"DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "KV_CACHE_PRECISION": "f32"}

_MODEL = "openvino_model.xml"
_LOGITS = "logits"

# Sequences whose lengths differ by so many tokens at the most are read together in any case.
_NEAR = 256


class ModelRunner:
    """A model that is compiled once: its weights are in memory once, however many sequences it has."""

    def __init__(self, compiled: openvino.CompiledModel) -> None:
        self._compiled = compiled
        self._inputs = frozenset(name for port in compiled.inputs for name in port.get_names())

    def begin(self) -> "Decoder":
        """Returns what reads a new sequence."""
        return Decoder(self._compiled.create_infer_request(), self._inputs)

    def release(self) -> None:
        """Frees the memory of sequences that nothing refers to any more.

        OpenVINO 2026.4.1: a compiled model keeps the states of the request that it computed last, until another one
        is computed. Delete this when `tests/engine/openvino/full_logits/test_memory.py` passes without it.
        """
        self.begin().read(numpy.zeros(1, numpy.int64))

    def token_bytes(self) -> int:
        """Returns how much memory the keys and values of a token take, in bytes. Raises RuntimeError for a model whose
        state is something else."""
        decoder = self.begin()
        decoder.read(numpy.zeros(1, numpy.int64))
        states = [each.state for each in decoder.request.query_state()]
        # [sequences, heads, tokens, size]: what makes a batch of them.
        if any(len(state.shape) != 4 or state.shape[2] != 1 for state in states):
            raise RuntimeError("Its state isn't made of keys and values alone, as the full-logits process needs it.")
        size: int = sum(state.byte_size for state in states)
        return size


class Decoder:
    """Reads one sequence, and remembers what it has read in the request's state: the keys and values of all layers."""

    def __init__(self, request: openvino.InferRequest, inputs: frozenset[str]) -> None:
        self.request = request
        self.inputs = inputs
        self.length = 0

    def read(self, ids: Ids) -> Logits:
        """Returns the scores of what follows each of the next tokens: [tokens, vocabulary]."""
        end = self.length + len(ids)
        positions = numpy.arange(self.length, end, dtype=numpy.int64)[None]
        mask = numpy.ones((1, end), numpy.int64)
        self.length = end
        logits: Logits = _infer(self.request, self.inputs, ids[None], mask, positions, [0])[0]
        return logits


class Batch:
    """Reads a token of each of several sequences at a time: the weights are read once for all of them.

    It begins with what a decoder has read, for one sequence or several. What they have read is in one state, a row for
    each, right-aligned and padded to the longest: `_mask` says what of a row is its own. Sequences of very different
    lengths don't go into one batch, so that a row takes at most `padded` of its own length.
    """

    def __init__(self, decoder: Decoder, ids: Sequence[int]) -> None:
        self._request = decoder.request
        self._inputs = decoder.inputs
        self._rows = dict.fromkeys(ids, 0)  # of the state, by the ids of the sequences
        self._mask = numpy.ones((1, decoder.length), numpy.int64)

    @property
    def ids(self) -> list[int]:
        return list(self._rows)

    @property
    def tokens(self) -> int:
        """Returns how many tokens the memory is taken for, padding included."""
        return len(self._rows) * self._mask.shape[1]

    def tokens_with(self, decoder: Decoder, ids: Sequence[int]) -> int | None:
        """Returns what `tokens` would be with these sequences; None if the lengths are too different."""
        lengths = (*self._mask[list(self._rows.values())].sum(axis=1), decoder.length)
        width = max(self._mask.shape[1], decoder.length)
        return width * (len(self._rows) + len(ids)) if width <= padded(min(lengths)) else None

    def leave(self, id: int) -> None:
        """Forgets a sequence; its memory is freed at the next reading."""
        del self._rows[id]

    def join(self, decoder: Decoder, ids: Sequence[int]) -> None:
        """Adds sequences with what a decoder has read."""
        kept = list(self._rows.values())
        mask = self._mask[kept]
        used = int(mask.any(axis=0).sum())
        width = max(used, decoder.length)
        joining = decoder.request.query_state()
        for own, other in zip(self._request.query_state(), joining, strict=True):
            row = other.state.data[0]
            whole = numpy.zeros((len(kept) + 1, row.shape[0], width, row.shape[2]), row.dtype)
            whole[:-1, :, width - used :] = own.state.data[kept, :, -used:]
            whole[-1, :, width - decoder.length :] = row
            own.state = openvino.Tensor(whole)
        self._mask = numpy.zeros((len(kept) + 1, width), numpy.int64)
        self._mask[:-1, width - used :] = mask[:, -used:]
        self._mask[-1, width - decoder.length :] = 1
        self._rows = {id: row for row, id in enumerate(self._rows)} | dict.fromkeys(ids, len(kept))

    def read(self, tokens: Mapping[int, int]) -> dict[int, Logits]:
        """Returns the scores of what follows the next token of each of the sequences: [vocabulary]."""
        kept = list(self._rows.values())
        ids = numpy.array([[tokens[id]] for id in self._rows], numpy.int64)
        positions = self._mask[kept].sum(axis=1, keepdims=True)
        self._mask = numpy.pad(self._mask[kept], ((0, 0), (0, 1)), constant_values=1)
        self._rows = {id: row for row, id in enumerate(self._rows)}
        logits = _infer(self._request, self._inputs, ids, self._mask, positions, kept)
        return dict(zip(self._rows, logits[:, -1], strict=True))


def padded(length: int) -> int:
    """Returns the longest row, in tokens, that a sequence of this length shares a batch with."""
    return max(2 * length, length + _NEAR)


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


def load(path: str, options: PipelineOptions) -> ModelRunner:
    """Loads the model of an OpenVINO folder or a .gguf file. Raises RuntimeError or ValueError."""
    device = chosen(options.device, options.plugin_config)
    properties = {**device.properties, **(_EXACT if device.memory is None else {}), **options.plugin_config}
    core = openvino.Core()
    if Path(path).is_dir():
        return ModelRunner(core.compile_model(Path(path) / _MODEL, device.name, properties))
    with tempfile.TemporaryDirectory() as folder:
        gguf = Path(folder) / "model.gguf"
        gguf.symlink_to(Path(path).absolute())
        openvino_genai.LLMPipeline(gguf, "CPU", enable_save_ov_model=True)  # it writes the model beside the file
        return ModelRunner(core.compile_model(Path(folder) / _MODEL, device.name, properties))


def end_tokens(path: str) -> frozenset[int]:
    """Returns the ids that the pipeline heeds: those of the folder's generation_config.json, and the tokenizer's own
    where that names none."""
    file = Path(path) / "generation_config.json"
    config = GenerationConfig(file) if file.is_file() else GenerationConfig()
    found = {config.eos_token_id, *config.stop_token_ids} - {-1}
    return frozenset(found or {load_tokenizer(path).get_eos_token_id()})
