"""Why prefix caching is on: with it, greedy answers to repeated prompts stay the same, and equal those without it."""

import numpy
import openvino
import openvino_genai
from openvino_genai import ContinuousBatchingPipeline, Tokenizer
from support.conversation import conversation

from specvino.engine.models import ModelSource
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.openvino.worker.pipeline import _PROPERTIES, load

FILLER = "The quick brown fox jumps over the lazy dog. "
LENGTHS = [0, 5, 40]  # times the filler: shorter than a block of 32 tokens, several blocks, several chunks


def greedy(pipeline: ContinuousBatchingPipeline, id: int, prompt: bytes) -> list[int]:
    config = pipeline.get_config()
    config.max_new_tokens = 40
    ids = numpy.frombuffer(prompt, numpy.int64).reshape(1, -1)
    handle = pipeline.add_request(id, openvino.Tensor(ids), config)
    tokens: list[int] = []
    while pipeline.has_non_finished_requests():
        pipeline.step()
        while handle.can_read():
            for part in handle.read().values():
                tokens += part.generated_ids
    return tokens


def test_repeated_prompts_get_the_same_answer(source: ModelSource) -> None:
    preprocessor = Preprocessor(Tokenizer(source.path))
    prompts = [
        preprocessor.preprocess(conversation(FILLER * length + question))
        for length in LENGTHS
        for question in ("hello", "What is the capital of France?")
    ]
    without = ContinuousBatchingPipeline(str(source.path), openvino_genai.SchedulerConfig(), "CPU", _PROPERTIES)
    expected = [greedy(without, id, prompt) for id, prompt in enumerate(prompts)]
    cached = load(LoadModel(str(source.path), max_sequences=1))
    for again in range(3):
        assert [greedy(cached, again * 100 + id, prompt) for id, prompt in enumerate(prompts)] == expected
