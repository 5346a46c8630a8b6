"""Runs the model by OpenVINO's own runtime: tokens in, the scores of the whole vocabulary out (decision 068)."""

import tempfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

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

# This process computes exact probabilities, so it uses neither 8-bit activations nor an 8-bit cache, each of which
# changes logprobs by up to 0.3; a 16-bit cache changes them by 0.02.
_EXACT = {"DYNAMIC_QUANTIZATION_GROUP_SIZE": 0, "KV_CACHE_PRECISION": "f32"}

_MODEL = "openvino_model.xml"
_LOGITS = "logits"

# OpenVINO 2026.4.1 repacks the weights a second time for 8 tokens or more, with the properties of `_EXACT`.
_PROMPT = 32

# Sequences whose lengths differ by at most this many tokens can always share a batch.
_NEAR = 256


class StateSize(NamedTuple):
    """What a sequence and each of its tokens take, in bytes. Linear attention and convolutions, in layers of hybrid
    models, have a state that doesn't grow.
    """

    sequence: int
    token: int


class ModelRunner:
    """A compiled model. All sequences share its weights in memory."""

    def __init__(self, compiled: openvino.CompiledModel) -> None:
        self._compiled = compiled
        self._inputs = frozenset(name for port in compiled.inputs for name in port.get_names())

    def begin(self) -> "Decoder":
        """Returns a decoder for a new sequence."""
        return Decoder(self._compiled.create_infer_request(), self._inputs)

    def release(self) -> None:
        """Frees the memory of unreferenced sequences.

        OpenVINO 2026.4.1: a compiled model keeps the states of the last request until it computes another one. Delete
        this when `test_a_long_prompt_beside_short_ones_takes_no_more_memory_than_both` in
        `tests/engine/openvino/test_engine_full_logits.py` passes without it.
        """
        self.begin().read(numpy.zeros(1, numpy.int64))

    def state_size(self) -> StateSize:
        """Returns the size of a state, from a prompt that has OpenVINO repack the weights. Raises RuntimeError for a
        model without keys and values, or with another kind of state.
        """
        decoder = self.begin()
        shapes = []
        for count in (_PROMPT, 1):
            decoder.read(numpy.zeros(count, numpy.int64))
            states = [variable.state for variable in decoder.request.query_state()]
            shapes.append([tuple(state.shape) for state in states])
        growing = [state for state, before, after in zip(states, *shapes, strict=True) if before != after]
        # A batch needs the shape [sequences, heads, tokens, size].
        if not growing or any(len(state.shape) != 4 or state.shape[2] != _PROMPT + 1 for state in growing):
            raise RuntimeError("For the full-logits process only keys and values may grow, and there must be some.")
        tokens: int = sum(state.byte_size for state in growing)
        return StateSize(sum(state.byte_size for state in states) - tokens, tokens // (_PROMPT + 1))


class Decoder:
    """Computes one sequence. The state of its infer request has the keys and values of all layers for the tokens so
    far.
    """

    def __init__(self, request: openvino.InferRequest, inputs: frozenset[str]) -> None:
        self.request = request
        self.inputs = inputs
        self.length = 0

    def read(self, ids: Ids) -> Logits:
        """Computes the next tokens and returns the scores after each: [tokens, vocabulary]."""
        end = self.length + len(ids)
        positions = numpy.arange(self.length, end, dtype=numpy.int64)[None]
        mask = numpy.ones((1, end), numpy.int64)
        self.length = end
        logits: Logits = _infer(self.request, self.inputs, ids[None], mask, positions, [0])[0]
        return logits


class Batch:
    """Computes one token of each of several sequences at a time, so that the weights are read only once. It begins with
    the state of a decoder, for one or several sequences. All sequences share one state, with a row for each,
    right-aligned and padded to the longest; `_mask` marks the tokens of a row. Sequences of very different lengths
    don't share a batch, so a row has at most the length `padded(own length)`.
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
        """Returns how many tokens the state has memory for, padding included."""
        return len(self._rows) * self._mask.shape[1]

    def tokens_with(self, decoder: Decoder, ids: Sequence[int]) -> int | None:
        """Returns `tokens` with these sequences added; None if the lengths are too different."""
        lengths = (*self._mask[list(self._rows.values())].sum(axis=1), decoder.length)
        width = max(self._mask.shape[1], decoder.length)
        return width * (len(self._rows) + len(ids)) if width <= padded(min(lengths)) else None

    def leave(self, id: int) -> None:
        """Removes a sequence; its memory is freed at the next `read`."""
        del self._rows[id]

    def join(self, decoder: Decoder, ids: Sequence[int]) -> None:
        """Adds sequences with the state of a decoder."""
        kept = list(self._rows.values())
        mask = self._mask[kept]
        used = int(mask.any(axis=0).sum())
        width = max(used, decoder.length)
        joining = decoder.request.query_state()
        for own, other in zip(self._request.query_state(), joining, strict=True):
            rows, row = own.state.data, other.state.data[0]
            if rows.shape[1:] == row.shape:  # as long, or of a fixed size
                joined = numpy.concatenate((rows[kept], row[None]))
            else:
                joined = numpy.zeros((len(kept) + 1, row.shape[0], width, row.shape[2]), row.dtype)
                joined[:-1, :, width - used :] = rows[kept, :, -used:]
                joined[-1, :, width - decoder.length :] = row
            own.state = openvino.Tensor(joined)
        self._mask = numpy.zeros((len(kept) + 1, width), numpy.int64)
        self._mask[:-1, width - used :] = mask[:, -used:]
        self._mask[-1, width - decoder.length :] = 1
        self._rows = {id: row for row, id in enumerate(self._rows)} | dict.fromkeys(ids, len(kept))

    def read(self, tokens: Mapping[int, int]) -> dict[int, Logits]:
        """Computes the next token of each sequence and returns the scores after it: [vocabulary]."""
        kept = list(self._rows.values())
        ids = numpy.array([[tokens[id]] for id in self._rows], numpy.int64)
        positions = self._mask[kept].sum(axis=1, keepdims=True)
        self._mask = numpy.pad(self._mask[kept], ((0, 0), (0, 1)), constant_values=1)
        self._rows = {id: row for row, id in enumerate(self._rows)}
        logits = _infer(self._request, self._inputs, ids, self._mask, positions, kept)
        return dict(zip(self._rows, logits[:, -1], strict=True))


def padded(length: int) -> int:
    """Returns the longest row, in tokens, with which a sequence of this length may share a batch."""
    return max(2 * length, length + _NEAR)


def _infer(
    request: openvino.InferRequest, inputs: Set[str], ids: Ids, mask: Ids, positions: Ids, rows: Sequence[int]
) -> Logits:
    """Appends tokens to these rows of the state, and returns the logits. `inputs` are the model's input names."""
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
        openvino_genai.LLMPipeline(gguf, "CPU", enable_save_ov_model=True)  # writes the model beside the file
        return ModelRunner(core.compile_model(Path(folder) / _MODEL, device.name, properties))


def end_tokens(path: str) -> frozenset[int]:
    """Returns the ids that end a turn in the pipeline: those of the folder's generation_config.json, else the
    tokenizer's own."""
    file = Path(path) / "generation_config.json"
    config = GenerationConfig(file) if file.is_file() else GenerationConfig()
    ids = {config.eos_token_id, *config.stop_token_ids} - {-1}
    return frozenset(ids or {load_tokenizer(path).get_eos_token_id()})
