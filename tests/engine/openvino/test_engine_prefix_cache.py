"""Why prefix caching is on: with it, greedy answers to repeated prompts stay the same, and equal those without it; and
a prompt takes as many steps as what is new in it."""

import random
from dataclasses import replace

import numpy
import openvino
import openvino_genai
import pytest
from openvino_genai import ContinuousBatchingPipeline, Tokenizer
from support.conversation import conversation
from support.engines import running
from support.exhaustive import sampled

from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.native.devices import chosen
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.openvino.worker.pipeline import load

FILLER = "The quick brown fox jumps over the lazy dog. "
LENGTHS = [0, 5, 27]  # times the filler: shorter than a block of 32 tokens, several blocks, two chunks


def greedy(pipeline: ContinuousBatchingPipeline, id: int, prompt: bytes) -> list[int]:
    config = pipeline.get_config()
    config.max_new_tokens = 16
    ids = numpy.frombuffer(prompt, numpy.int64).reshape(1, -1)
    handle = pipeline.add_request(id, openvino.Tensor(ids), config)
    tokens: list[int] = []
    while pipeline.has_non_finished_requests():
        pipeline.step()
        while handle.can_read():
            for part in handle.read().values():
                tokens += part.generated_ids
    return tokens


@pytest.mark.parametrize("source", sampled(["tiny_text", "smollm2"], "tiny_text"), indirect=True)
def test_repeated_prompts_get_the_same_answer(source: ModelSource) -> None:
    preprocessor = Preprocessor(Tokenizer(source.path))
    prompts = [
        preprocessor.preprocess(conversation(FILLER * length + question))
        for length in LENGTHS
        for question in ("hello", "What is the capital of France?")
    ]
    properties = dict(chosen("CPU", {}).properties)
    without = ContinuousBatchingPipeline(str(source.path), openvino_genai.SchedulerConfig(), "CPU", properties)
    expected = [greedy(without, id, prompt) for id, prompt in enumerate(prompts)]
    cached = load(LoadModel(str(source.path), max_sequences=1))
    for again in range(2):
        assert [greedy(cached, again * 100 + id, prompt) for id, prompt in enumerate(prompts)] == expected


@pytest.fixture(scope="module")
def one_at_a_time(smollm2: ModelSource) -> ContinuousBatchingPipeline:
    return load(LoadModel(str(smollm2.path), max_sequences=1))


@pytest.mark.parametrize("length", [63, 64, 65, 192])
def test_a_prompt_is_as_likely_to_go_on_the_same_way_each_time(
    one_at_a_time: ContinuousBatchingPipeline, length: int
) -> None:
    """From the second time on: the first has nothing of the prompt in the cache. 64 and 192 fill its blocks of 32
    (decision 072)."""
    drawn = random.Random(length)
    prompt = numpy.array([[drawn.randrange(1000, 20_000) for _ in range(length)]], numpy.int64)
    config = one_at_a_time.get_config()
    config.max_new_tokens, config.logprobs, config.ignore_eos = 12, 1, True

    def logprobs(id: int) -> list[float]:
        handle = one_at_a_time.add_request(id, openvino.Tensor(prompt), config)
        read: list[float] = []
        while one_at_a_time.has_non_finished_requests():
            one_at_a_time.step()
            while handle.can_read():
                read += [logprob for part in handle.read().values() for logprob in part.generated_log_probs]
        return read

    _, second, *more = [logprobs(id) for id in range(4)]
    assert more == [second] * 2


def steps_to_first_token(pipeline: ContinuousBatchingPipeline, id: int, prompt: list[int]) -> int:
    config = openvino_genai.GenerationConfig()
    config.max_new_tokens = 1
    handle = pipeline.add_request(id, openvino.Tensor(numpy.array([prompt], numpy.int64)), config)
    steps = 0
    while not handle.can_read():
        pipeline.step()
        steps += 1
    return steps


def test_a_prefix_that_was_computed_takes_no_step_again(tiny_text: ModelSource) -> None:
    """Of 2,000 tokens: eight steps of 256, then one; without the cache, again eight."""
    pipeline = load(LoadModel(str(tiny_text.path), max_sequences=1))
    drawn = random.Random(1)
    prefix, *questions = ([drawn.randrange(5, 200) for _ in range(length)] for length in (2000, 20, 20, 20))
    steps = [steps_to_first_token(pipeline, id, prefix + question) for id, question in enumerate(questions)]
    assert steps == [8, 1, 1]
    without = load(LoadModel(str(tiny_text.path), max_sequences=1, options=PipelineOptions(prefix_cache=False)))
    assert [steps_to_first_token(without, id, prefix + questions[0]) for id in range(2)] == [8, 8]


def test_a_type_whose_answers_the_cache_changes(tiny_text: ModelSource, caplog: pytest.LogCaptureFixture) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        pass

    running(replace(tiny_text, prefix_cache=False), test)
    assert "the prefix cache is off, as it changes this model's answers" in caplog.text
    caplog.clear()
    running(tiny_text, test)
    assert "prefix cache" not in caplog.text
