"""The sampler draws from the tokens that GenAI's pipeline draws from, where several settings leave tokens out."""

from typing import Any

import numpy
import openvino
import pytest
from openvino_genai import ContinuousBatchingPipeline, GenerationConfig, SchedulerConfig
from support.conversation import ask

from specvino.engine.models import ModelSource
from specvino.engine.openvino.full_logits.model_runner import load
from specvino.engine.openvino.full_logits.sampler import Sampler
from specvino.engine.openvino.messages.options import PipelineOptions

PROMPT = numpy.array([40, 41, 42, 300, 50, 60, 7], numpy.int64)
DRAWS = 400

# Hot: the most likely token has 2 %, each of the next ones half a per cent.
TEMPERATURE = 4.0


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"top_k": 4}, 4),
        ({"min_p": 0.19}, 7),
        # Of these four the first has more than half.
        ({"top_k": 4, "top_p": 0.5}, 1),
        # Two fifths of all are hundreds of tokens; of the seven that min_p leaves the first one would be enough.
        ({"top_p": 0.4, "min_p": 0.19}, 7),
        ({"top_k": 6, "min_p": 0.22}, 4),
    ],
)
def test_both_draw_from_the_same_tokens(tiny_text: ModelSource, settings: dict[str, Any], kept: int) -> None:
    logits = load(str(tiny_text.path), PipelineOptions()).begin().read(PROMPT)[-1]
    sampling = ask("x", temperature=TEMPERATURE, **settings).sampling
    ours = set(numpy.flatnonzero(Sampler(sampling, 0, PROMPT, frozenset()).probabilities(logits)).tolist())
    assert len(ours) == kept
    pipeline = ContinuousBatchingPipeline(
        str(tiny_text.path),
        SchedulerConfig(),
        "CPU",
        {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"},
    )
    handles = []
    for seed in range(DRAWS):
        config = GenerationConfig()
        config.max_new_tokens, config.ignore_eos, config.do_sample = 1, True, True
        config.temperature, config.rng_seed = TEMPERATURE, seed
        for name, value in settings.items():
            setattr(config, name, value)
        handles.append(pipeline.add_request(seed, openvino.Tensor(PROMPT.reshape(1, -1)), config))
    while pipeline.has_non_finished_requests():
        pipeline.step()
    assert {handle.read_all()[0].generated_ids[0] for handle in handles} == ours
