"""Measurements of a pipeline: five figures, and some of its texts."""

import itertools
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from openvino_genai import ContinuousBatchingPipeline, GenerationConfig

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.native.error_output import one_line
from specvino.engine.openvino.worker.pipeline import load

if TYPE_CHECKING:
    import openvino
    from openvino_genai.py_openvino_genai import GenerationHandle

_STEPS = 16
_LONG, _SHORT = 900, 40  # words of a prompt, with one or two tokens each
_TEXTS = ("Three colours are", "The capital of France is", "Once upon a time", "def add(a, b):")
_TEXT_TOKENS = 24

_TEXT = """
the river runs past an old mill where people of the town meet to talk about weather bread prices and letters from abroad
while children play near the bridge and count boats that carry wood stone and wool to the sea
"""
_WORDS = _TEXT.split()


@dataclass(frozen=True, slots=True)
class Figures:
    """Speeds: tokens per second of a long prompt, of one answer, and of 4 and 16 concurrent answers; and the inverse of
    the longest step that a long prompt causes for a concurrent answer.
    """

    prompt: float
    one: float
    four: float
    sixteen: float
    longest_step: float

    def __truediv__(self, other: "Figures") -> "Figures":
        return Figures(*(a / b for a, b in zip(self.all(), other.all(), strict=True)))

    def all(self) -> list[float]:
        return [getattr(self, field.name) for field in fields(self)]

    @property
    def mean(self) -> float:
        """Returns the geometric mean, for which the ratios 2 and 0.5 cancel out."""
        return statistics.geometric_mean(self.all())


def best(figures: Sequence[Figures]) -> Figures:
    """Returns the best of each figure: other load on the machine only makes them worse."""
    return Figures(*(max(values) for values in zip(*(one.all() for one in figures), strict=True)))


class Measured:
    """Measures a pipeline, which must be unused otherwise. That of a vision-language model takes texts only."""

    def __init__(self, pipeline: ContinuousBatchingPipeline, *, vision: bool) -> None:
        self._pipeline = pipeline
        self._vision = vision
        self._ids = itertools.count(1)

    def figures(self, salt: int) -> Figures:
        """Measures once. No prompt is repeated, so that the prefix cache has no effect; the salt determines the
        prompts.
        """
        drawn = random.Random(salt)
        one, four, sixteen = (self._steps(drawn, streams) for streams in (1, 4, 16))
        prompt, longest_step = self._long_prompt(drawn)
        return Figures(prompt, one, four, sixteen, longest_step)

    def texts(self) -> list[list[int]]:
        """Returns the tokens of some greedy texts."""
        return [self._text(prompt) for prompt in _TEXTS]

    def _text(self, prompt: str) -> list[int]:
        config = GenerationConfig()
        config.max_new_tokens = _TEXT_TOKENS
        config.ignore_eos = True
        handle, _ = self._add(prompt, config)
        tokens: list[int] = []
        while self._pipeline.has_non_finished_requests():
            self._pipeline.step()
            while handle.can_read():
                tokens += [token for part in handle.read().values() for token in part.generated_ids]
        return tokens

    def _steps(self, drawn: random.Random, streams: int) -> float:
        handles = [self._add(_words(drawn, _SHORT), _endless())[0] for _ in range(streams)]
        self._until_begun(handles)
        start = time.perf_counter()
        for _ in range(_STEPS):
            self._pipeline.step()
        seconds = time.perf_counter() - start
        self._end(handles)
        return streams * _STEPS / seconds

    def _long_prompt(self, drawn: random.Random) -> tuple[float, float]:
        beside, _ = self._add(_words(drawn, _SHORT), _endless())
        self._until_begun([beside])
        handle, tokens = self._add(_words(drawn, _LONG), _endless())
        steps = []
        while not handle.can_read():
            start = time.perf_counter()
            self._pipeline.step()
            steps.append(time.perf_counter() - start)
        self._end([beside, handle])
        return tokens / sum(steps), 1 / max(steps)

    def _add(self, text: str, config: GenerationConfig) -> "tuple[GenerationHandle, int]":
        ids: openvino.Tensor = self._pipeline.get_tokenizer().encode(text).input_ids
        id = next(self._ids)
        if self._vision:
            config.apply_chat_template = False
            return self._pipeline.add_request(id, text, config), ids.get_size()
        return self._pipeline.add_request(id, ids, config), ids.get_size()

    def _until_begun(self, handles: "Sequence[GenerationHandle]") -> None:
        while not all(handle.can_read() for handle in handles):
            self._pipeline.step()

    def _end(self, handles: "Sequence[GenerationHandle]") -> None:
        for handle in handles:
            handle.cancel()
        while self._pipeline.has_non_finished_requests():
            self._pipeline.step()


def _words(drawn: random.Random, count: int) -> str:
    return " ".join(drawn.choices(_WORDS, k=count))


def _endless() -> GenerationConfig:
    config = GenerationConfig()
    config.max_new_tokens = 10_000
    config.ignore_eos = True
    return config


def loading(source: ModelSource, cache_size: int) -> Callable[[PipelineOptions], Measured]:
    """Returns a function that loads the model with given options. It raises ModelLoadError."""

    def loaded(options: PipelineOptions) -> Measured:
        try:
            pipeline = load(LoadModel(str(source.path), 0, cache_size=cache_size, options=options))
            measured = Measured(pipeline, vision=source.vision)
            measured.figures(-1)  # warm-up: the first steps take longer
        except (RuntimeError, ValueError) as error:
            raise ModelLoadError(f"{source.path}: {one_line(error)}") from error
        return measured

    return loaded
