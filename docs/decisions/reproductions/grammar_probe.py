"""Asks XGrammar, inside of OpenVINO GenAI, what a grammar allows: with a pipeline without a model, in milliseconds."""

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy
import openvino
from openvino import opset13
from openvino_genai import GenerationConfig, LLMPipeline, StructuredOutputConfig, Tokenizer
from pipelines import TINY_TEXT


class Probe:
    """Wants to write one text, and shows where the grammar doesn't let it.

    `kinds` of constraints are the arguments of StructuredOutputConfig: `json_schema`, `grammar`, `regex`,
    `structural_tags_config`.
    """

    def __init__(self, model: str = TINY_TEXT) -> None:
        self.tokenizer = Tokenizer(model)
        self.vocabulary = self.tokenizer.get_vocab()
        self._eos = self.tokenizer.get_eos_token_id()

    def allows(self, text: str | bytes, **kind: Any) -> bool:
        """Whether the constraint allows the whole text, and that it ends there. Raises RuntimeError for a bad one."""
        return self._written(text, **kind) == self._wanted(text)

    def begins(self, text: str | bytes, **kind: Any) -> bool:
        """Whether the constraint allows something that begins with the text."""
        return self._written(text, **kind)[:-1] == self._wanted(text)[:-1]

    def seconds(self, text: str, **kind: Any) -> tuple[float, float]:
        """Returns the CPU seconds that it takes to compile a new constraint, and those of a token of the text."""
        pipeline, wanted = self.pipeline(text), self._wanted(text)
        times = []
        for count in (1, 1, len(wanted)):
            begin = time.process_time()
            self.generate(pipeline, count, **kind)
            times.append(time.process_time() - begin)
        return times[0] - times[1], (times[2] - times[1]) / max(1, len(wanted) - 1)

    def pipeline(self, text: str | bytes | list[int]) -> LLMPipeline:
        """Returns a pipeline that wants to write the text, or these tokens, whatever it is asked."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "probe.xml"
            openvino.save_model(_model(self._wanted(text), max(self.vocabulary.values()) + 1), file)
            xml, weights = file.read_text(), file.with_suffix(".bin").read_bytes()
        tensor = openvino.Tensor(numpy.frombuffer(weights, numpy.uint8).copy())
        return LLMPipeline(xml, tensor, self.tokenizer, "CPU", ATTENTION_BACKEND="SDPA")

    def generate(self, pipeline: LLMPipeline, count: int, **kind: Any) -> list[int]:
        """Returns at most `count` tokens that the constraint allows."""
        config = GenerationConfig()
        config.eos_token_id, config.stop_token_ids = self._eos, {self._eos}
        config.max_new_tokens = count
        config.structured_output_config = StructuredOutputConfig(**kind)
        start = openvino.Tensor(numpy.zeros((1, 1), numpy.int64))
        return list(pipeline.generate(start, config).tokens[0])

    def _written(self, text: str | bytes, **kind: Any) -> list[int]:
        return self.generate(self.pipeline(text), len(self._wanted(text)), **kind)

    def _wanted(self, text: str | bytes | list[int]) -> list[int]:
        """One token for each byte, and the end."""
        if isinstance(text, list):
            return [*text, self._eos]
        data = text.encode() if isinstance(text, str) else text
        return [*(self.vocabulary[bytes([byte])] for byte in data), self._eos]


def default_model() -> Probe:
    """Returns a probe with the vocabulary of the default model, 49,000 tokens, which is pulled if it isn't there."""
    from specvino.engine.models import resolve

    return Probe(str(resolve("smollm2").path))


def _model(wanted: list[int], size: int) -> openvino.Model:
    """The inputs of a language model, and logits that depend on nothing but the place in the text."""
    inputs = {}
    for name, shape, kind in (
        ("input_ids", [-1, -1], openvino.Type.i64),
        ("attention_mask", [-1, -1], openvino.Type.i64),
        ("beam_idx", [-1], openvino.Type.i32),
    ):
        inputs[name] = opset13.parameter(shape, kind, name=name)
        inputs[name].output(0).get_tensor().set_names({name})
    table = opset13.constant(numpy.array([wanted[0], *wanted], numpy.int64))
    place = opset13.reduce_sum(inputs["attention_mask"], opset13.constant([0, 1], numpy.int64))
    token = opset13.gather(table, place, opset13.constant(numpy.int64(0)))
    depth, on, off = (opset13.constant(value) for value in (numpy.int64(size), numpy.float32(50), numpy.float32(0)))
    row = opset13.one_hot(token, depth, on, off, axis=-1)
    shape = opset13.concat([opset13.shape_of(inputs["input_ids"], "i64"), opset13.constant([size], numpy.int64)], 0)
    # Inputs without effect would be dropped.
    beams = opset13.convert(opset13.reduce_sum(inputs["beam_idx"], opset13.constant([0], numpy.int64)), "f32")
    nothing = opset13.multiply(beams, opset13.constant(numpy.float32(0)))
    logits = opset13.add(opset13.broadcast(row, shape), nothing)
    logits.output(0).get_tensor().set_names({"logits"})
    return openvino.Model([opset13.result(logits)], list(inputs.values()), "probe")
