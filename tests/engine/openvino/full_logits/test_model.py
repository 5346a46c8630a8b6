"""Sequences that are read together are read as each would be alone."""

from collections.abc import Mapping

import numpy
import pytest

from specvino.engine.models import ModelSource
from specvino.engine.openvino.full_logits.model import FullLogitsModel, Logits, load
from specvino.engine.openvino.messages.options import PipelineOptions

PROMPTS = {1: [40, 41, 42], 2: [300, 50, 60, 70, 80, 90, 100, 110], 3: [7], 4: [8, 9, 10, 11, 12]}


@pytest.fixture(scope="module")
def model(tiny_text: ModelSource) -> FullLogitsModel:
    return load(str(tiny_text.path), PipelineOptions())


class Alone:
    """Reads each sequence from its beginning."""

    def __init__(self, model: FullLogitsModel) -> None:
        self._model = model
        self._ids = {id: list(prompt) for id, prompt in PROMPTS.items()}

    def read(self, tokens: Mapping[int, int]) -> dict[int, Logits]:
        found = {}
        for id, token in tokens.items():
            self._ids[id].append(token)
            decoder = self._model.begin()
            found[id] = decoder.read(numpy.array(self._ids[id], numpy.int64))[-1].copy()
            self._model.end(decoder)
        return found


def test_they_come_and_go(model: FullLogitsModel) -> None:
    batch, alone = model.batch(), Alone(model)

    def join(*ids: int) -> None:
        decoders = {id: model.begin() for id in ids}
        for id, decoder in decoders.items():
            decoder.read(numpy.array(PROMPTS[id], numpy.int64))
        batch.join(decoders)
        for decoder in decoders.values():
            model.end(decoder)

    def read(*tokens: int) -> None:
        asked = dict(zip(batch.ids, tokens, strict=True))
        expected = alone.read(asked)
        for id, logits in batch.read(asked).items():
            assert logits == pytest.approx(expected[id], abs=1e-4)

    join(1)
    read(20)
    join(2, 3)
    assert sorted(batch.ids) == [1, 2, 3]
    for token in range(30, 33):
        read(token, token + 100, token + 200)
    batch.leave(2)  # the longest
    read(44, 55)
    batch.leave(1)
    join(4)
    read(66, 77)
    batch.leave(3)
    batch.leave(4)
    assert batch.ids == []
    join(2)
    alone._ids[2] = list(PROMPTS[2])
    read(88)


def test_several_take_over_what_one_has_read(model: FullLogitsModel) -> None:
    batch = model.batch()
    decoder = model.begin()
    decoder.read(numpy.array(PROMPTS[2], numpy.int64))
    batch.join({1: decoder, 2: decoder})
    model.end(decoder)
    found = batch.read({1: 5, 2: 6})
    alone = model.begin()
    alone.read(numpy.array(PROMPTS[2], numpy.int64))
    assert found[2] == pytest.approx(alone.read(numpy.array([6], numpy.int64))[0], abs=1e-4)
    assert found[1] != pytest.approx(found[2], abs=1e-4)
