"""Sequences that are read together are read as each would be alone."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy
import openvino
import pytest
from openvino import opset13
from openvino_genai import ContinuousBatchingPipeline, SchedulerConfig

from specvino.engine.models import ModelSource
from specvino.engine.openvino.full_logits.model_runner import (
    Batch,
    Decoder,
    Logits,
    ModelRunner,
    StateSize,
    end_tokens,
    load,
)
from specvino.engine.openvino.messages.options import PipelineOptions

PROMPTS = {1: [40, 41, 42], 2: [300, 50, 60, 70, 80, 90, 100, 110], 3: [7], 4: [8, 9, 10, 11, 12]}


def hybrid(folder: Path, changed: Path) -> ModelRunner:
    """The model with a state that doesn't grow, as linear attention has: the sum of a sequence's tokens, on which the
    scores depend.
    """
    model = openvino.Core().read_model(folder / "openvino_model.xml")
    ids = opset13.convert(model.input("input_ids"), "f32")
    added = opset13.reduce_sum(ids, opset13.constant([1], numpy.int64), keep_dims=True)
    state = opset13.read_value(
        opset13.multiply(added, opset13.constant([0], numpy.float32)),
        "sum",
        openvino.Type.f32,
        openvino.PartialShape([-1, 1]),
    )
    total = opset13.add(opset13.gather(state, model.input("beam_idx"), opset13.constant(0, numpy.int64)), added)
    model.add_sinks([opset13.assign(total, "sum")])
    scores = model.output("logits").get_node().input(0)
    total = opset13.unsqueeze(total, opset13.constant([2], numpy.int64))
    more = opset13.divide(total, opset13.constant([100], numpy.float32))
    scores.replace_source_output(opset13.add(scores.get_source_output(), more).output(0))
    openvino.save_model(model, changed / "openvino_model.xml", compress_to_fp16=False)
    return load(str(changed), PipelineOptions())


@pytest.fixture(scope="module", params=["keys and values", "hybrid"])
def model(
    tiny_text: ModelSource, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> ModelRunner:
    if request.param == "hybrid":
        return hybrid(tiny_text.path, tmp_path_factory.mktemp("hybrid"))
    return load(str(tiny_text.path), PipelineOptions())


def test_what_a_state_takes(tiny_text: ModelSource, tmp_path: Path) -> None:
    size = load(str(tiny_text.path), PipelineOptions()).state_size()
    assert size.sequence == 0
    assert hybrid(tiny_text.path, tmp_path).state_size() == StateSize(4, size.token)


class Alone:
    """Reads each sequence from its beginning."""

    def __init__(self, model: ModelRunner) -> None:
        self._model = model
        self._ids = {id: list(prompt) for id, prompt in PROMPTS.items()}

    def read(self, tokens: Mapping[int, int]) -> dict[int, Logits]:
        logits = {}
        for id, token in tokens.items():
            self._ids[id].append(token)
            decoder = self._model.begin()
            logits[id] = decoder.read(numpy.array(self._ids[id], numpy.int64))[-1].copy()
        return logits


def read_by(model: ModelRunner, id: int) -> Decoder:
    decoder = model.begin()
    decoder.read(numpy.array(PROMPTS[id], numpy.int64))
    return decoder


def test_they_come_and_go(model: ModelRunner) -> None:
    batch, alone = Batch(read_by(model, 1), [1]), Alone(model)

    def read(*tokens: int) -> None:
        asked = dict(zip(batch.ids, tokens, strict=True))
        expected = alone.read(asked)
        for id, logits in batch.read(asked).items():
            assert logits == pytest.approx(expected[id], abs=1e-4)

    read(20)
    for id in (2, 3):
        batch.join(read_by(model, id), [id])
    assert sorted(batch.ids) == [1, 2, 3]
    for token in range(30, 33):
        read(token, token + 100, token + 200)
    batch.leave(2)  # the longest
    read(44, 55)
    batch.leave(1)
    batch.join(read_by(model, 4), [4])
    read(66, 77)
    batch.leave(3)
    read(88)


@pytest.mark.parametrize("joining", [False, True])
def test_several_take_over_what_one_has_read(model: ModelRunner, joining: bool) -> None:
    if joining:
        batch = Batch(read_by(model, 1), [0])
        batch.join(read_by(model, 2), [1, 2])
        batch.leave(0)
    else:
        batch = Batch(read_by(model, 2), [1, 2])
    logits = batch.read({1: 5, 2: 6})
    assert logits[2] == pytest.approx(read_by(model, 2).read(numpy.array([6], numpy.int64))[0], abs=1e-4)
    assert logits[1] != pytest.approx(logits[2], abs=1e-4)


def test_very_different_lengths_are_not_read_together(model: ModelRunner) -> None:
    def of(length: int) -> Decoder:
        decoder = model.begin()
        decoder.read(numpy.arange(length) % 200)
        return decoder

    batch = Batch(of(20), [1, 2])
    assert batch.tokens == 40
    assert batch.tokens_with(of(200), [3]) == 600
    assert batch.tokens_with(of(400), [3]) is None
    assert Batch(of(400), [1]).tokens_with(of(20), [2]) is None
    assert Batch(of(400), [1]).tokens_with(of(700), [2]) == 1400


def test_they_are_the_pipeline_s(tiny_text: ModelSource) -> None:
    config = ContinuousBatchingPipeline(str(tiny_text.path), SchedulerConfig(), "CPU").get_config()
    assert end_tokens(str(tiny_text.path)) == {config.eos_token_id, *config.stop_token_ids}


def test_they_are_the_tokenizer_s_where_the_folder_says_nothing(tiny_text: ModelSource, tmp_path: Path) -> None:
    for file in tiny_text.path.iterdir():
        if file.name != "generation_config.json":
            (tmp_path / file.name).symlink_to(file)
    config = ContinuousBatchingPipeline(str(tmp_path), SchedulerConfig(), "CPU").get_config()
    assert end_tokens(str(tmp_path)) == {config.eos_token_id, *config.stop_token_ids}


def test_several(tiny_text: ModelSource, tmp_path: Path) -> None:
    for file in tiny_text.path.iterdir():
        (tmp_path / file.name).symlink_to(file)
    (tmp_path / "generation_config.json").unlink()
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [5, 6]}))
    assert end_tokens(str(tmp_path)) == {5, 6}
