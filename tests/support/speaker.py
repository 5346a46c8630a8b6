"""A model without weights that wants to say a given text, on the real pipeline: what does a grammar make of it?"""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino_genai import GenerationConfig, LLMPipeline, TokenizedInputs, Tokenizer

from specvino.engine.openvino.native.dummy_pipeline import structured_output_config
from specvino.engine.request import StructuralTag
from specvino.engine.structured_output import lower

Logits = np.ndarray[Any, np.dtype[np.float32]]
ONE_TOKEN = ov.Tensor(np.array([[1]], np.int64))
SURE = 50.0  # a logit that no other token comes near


def scripted(logits: Logits) -> ov.Model:
    """A model whose logits at position i are row i (then the last row), whatever it is given."""
    ids = op.parameter([-1, -1], ov.Type.i64, name="input_ids")
    mask = op.parameter([-1, -1], ov.Type.i64, name="attention_mask")
    beam = op.parameter([-1], ov.Type.i32, name="beam_idx")
    for parameter in (ids, mask, beam):
        parameter.output(0).get_tensor().set_names({parameter.friendly_name})
    one, axis = op.constant(np.int64(1)), op.constant(np.int64(0))
    length = op.gather(op.shape_of(mask, "i64"), one, axis)
    position = op.minimum(op.subtract(length, one), op.constant(np.int64(len(logits) - 1)))
    row = op.gather(op.constant(logits), position, axis)
    vocabulary = op.constant(np.array([logits.shape[1]], np.int64))
    spread = op.broadcast(row, op.concat([op.shape_of(ids, "i64"), vocabulary], 0))
    # The pipeline wants every input to be used.
    used = [
        op.convert(op.reduce_sum(input_, op.constant(np.array(axes, np.int64)), False), "f32")
        for input_, axes in ((mask, [0, 1]), (beam, [0]))
    ]
    result = op.result(op.add(spread, op.multiply(op.add(*used), op.constant(np.float32(0)))))
    result.output(0).get_tensor().set_names({"logits"})
    return ov.Model([result], [ids, mask, beam], "scripted")


class Speaker:
    def __init__(self, tokenizer: Tokenizer, folder: Path) -> None:
        self._tokenizer = tokenizer
        self._folder = folder
        self._vocabulary = max(tokenizer.get_vocab().values()) + 1
        self._end = tokenizer.get_eos_token_id()

    def says(self, grammar: dict[str, Any], wanted: str) -> str:
        """What comes out if the model wants to say this: the same, if the grammar lets it."""
        ids = [*np.array(self._tokenizer.encode(wanted, add_special_tokens=False).input_ids.data)[0], self._end]
        logits = np.zeros((len(ids), self._vocabulary), np.float32)
        logits[np.arange(len(ids)), ids] = SURE
        config = GenerationConfig(max_new_tokens=len(ids) + 150)
        text, _ = self._generate(self._pipeline(logits), grammar, config)
        return text

    def babbles(self, grammar: dict[str, Any], seed: int) -> str | None:
        """What comes out if the model wants nothing in particular; None if that has no end."""
        config = GenerationConfig(max_new_tokens=500, do_sample=True, rng_seed=seed)
        text, ended = self._generate(self._babbling, grammar, config)
        return text if ended else None

    @cached_property
    def _babbling(self) -> LLMPipeline:
        logits = np.zeros((1, self._vocabulary), np.float32)
        logits[0, self._end] = 5.0
        return self._pipeline(logits)

    def _pipeline(self, logits: Logits) -> LLMPipeline:
        file = self._folder / "scripted.xml"
        ov.save_model(scripted(logits), file, compress_to_fp16=False)
        weights = ov.Tensor(np.fromfile(file.with_suffix(".bin"), np.uint8))
        return LLMPipeline(file.read_text(), weights, self._tokenizer, "CPU", ATTENTION_BACKEND="SDPA")

    def _generate(self, pipeline: LLMPipeline, grammar: dict[str, Any], config: GenerationConfig) -> tuple[str, bool]:
        config.eos_token_id = self._end
        config.structured_output_config = structured_output_config(lower(StructuralTag(grammar)))
        tokens = list(pipeline.generate(TokenizedInputs(ONE_TOKEN, ONE_TOKEN), config).tokens[0])
        ended = tokens[-1:] == [self._end]
        return self._tokenizer.decode(tokens[:-1] if ended else tokens, skip_special_tokens=False), ended
