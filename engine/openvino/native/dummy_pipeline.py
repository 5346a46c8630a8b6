"""A pipeline without a model, which compiles grammars for a tokenizer like the real one and may break. GenAI 2026.4.1:
in the real pipeline, an invalid grammar makes the step raise, which ends all requests (decision 004).
"""

import tempfile
from pathlib import Path

import numpy
import openvino
from openvino import opset13
from openvino_genai import GenerationConfig, LLMPipeline, StructuredOutputConfig, Tokenizer

from specvino.engine.grammar import LoweredConstraint

_UNLIKELY = -1e30


class DummyPipeline:
    """Compiles grammars and draws tokens without a model. All tokens are equally likely, except for token 0, which is
    chosen only where a grammar allows nothing else.

    If it uses a pipeline's tokenizer, that pipeline doesn't compile the grammar again. Other threads run during the
    compilation. Not thread-safe.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        size = max(tokenizer.get_vocab().values()) + 1
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "dummy.xml"
            openvino.save_model(_model(size), file)
            text, weights = file.read_text(), file.with_suffix(".bin").read_bytes()
        tensor = openvino.Tensor(numpy.frombuffer(weights, numpy.uint8).copy())
        self._pipeline = LLMPipeline(text, tensor, tokenizer, "CPU", ATTENTION_BACKEND="SDPA")
        self._eos = tokenizer.get_eos_token_id()
        self._start = openvino.Tensor(numpy.zeros((1, 1), numpy.int64))

    def generate(
        self, lowered: LoweredConstraint | None, tokens: int, *, draw: bool = False, seed: int = 0
    ) -> list[int]:
        """Returns at most this number of tokens; 1 is enough to compile. Raises RuntimeError if the grammar doesn't
        compile. Without a grammar all tokens are allowed. The result depends on the grammar and the seed only.
        """
        config = GenerationConfig()
        config.eos_token_id = self._eos
        config.stop_token_ids = {self._eos}
        config.max_new_tokens = tokens
        config.do_sample = draw
        config.rng_seed = seed
        if lowered is not None:
            config.structured_output_config = structured_output_config(lowered)
        return list(self._pipeline.generate(self._start, config).tokens[0])


def structured_output_config(lowered: LoweredConstraint) -> StructuredOutputConfig:
    return StructuredOutputConfig(**{lowered.kind: lowered.text})


def _model(size: int) -> openvino.Model:
    """Returns a model with the inputs of a language model, and logits that don't depend on them."""
    inputs = {}
    for name, shape, kind in (
        ("input_ids", [-1, -1], openvino.Type.i64),
        ("attention_mask", [-1, -1], openvino.Type.i64),
        ("beam_idx", [-1], openvino.Type.i32),
    ):
        inputs[name] = opset13.parameter(shape, kind, name=name)
        inputs[name].output(0).get_tensor().set_names({name})
    row = numpy.zeros(size, numpy.float32)
    row[0] = _UNLIKELY
    shape = opset13.concat([opset13.shape_of(inputs["input_ids"], "i64"), opset13.constant([size], numpy.int64)], 0)
    # Inputs without an effect would be removed.
    mask = opset13.convert(opset13.reduce_sum(inputs["attention_mask"], opset13.constant([0, 1], numpy.int64)), "f32")
    beams = opset13.convert(opset13.reduce_sum(inputs["beam_idx"], opset13.constant([0], numpy.int64)), "f32")
    nothing = opset13.multiply(opset13.add(mask, beams), opset13.constant(numpy.float32(0)))
    logits = opset13.add(opset13.broadcast(opset13.constant(row), shape), nothing)
    logits.output(0).get_tensor().set_names({"logits"})
    return openvino.Model([opset13.result(logits)], list(inputs.values()), "dummy")
