"""How likely a model finds tokens, computed without GenAI: the model itself, run once over a whole text."""

from collections.abc import Sequence

import numpy
import openvino
from numpy.typing import NDArray

from specvino.engine.models import ModelSource


class Scores:
    """Row i of `of(ids)` has the log-probabilities of what follows the first i + 1 ids."""

    def __init__(self, source: ModelSource) -> None:
        self._model = openvino.Core().compile_model(
            source.path / "openvino_model.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
        )

    def of(self, ids: Sequence[int]) -> NDArray[numpy.float64]:
        length = len(ids)
        inputs = {
            "input_ids": numpy.array([ids], numpy.int64),
            "attention_mask": numpy.ones((1, length), numpy.int64),
            "position_ids": numpy.arange(length, dtype=numpy.int64)[None],
            "beam_idx": numpy.zeros(1, numpy.int32),
        }
        names = {name for node in self._model.inputs for name in node.names}
        outputs = self._model.create_infer_request().infer({k: v for k, v in inputs.items() if k in names})
        logits = outputs[self._model.output("logits")][0].astype(numpy.float64)
        logits -= logits.max(axis=-1, keepdims=True)
        logprobs: NDArray[numpy.float64] = logits - numpy.log(numpy.exp(logits).sum(axis=-1, keepdims=True))
        return logprobs

    def after(self, prompt: Sequence[int], ids: Sequence[int]) -> list[float]:
        """The log-probability of each of `ids`, which follow the prompt."""
        scores = self.of([*prompt, *ids])
        return [float(scores[len(prompt) - 1 + index, id]) for index, id in enumerate(ids)]
