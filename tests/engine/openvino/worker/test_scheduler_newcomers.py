"""What a short request waits for beside a long prompt, counted in steps and tokens."""

import numpy
from support import worker_requests

from specvino.engine.models import ModelSource
from specvino.engine.openvino.messages.worker import LoadModel
from specvino.engine.openvino.worker.pipeline import load
from specvino.engine.openvino.worker.scheduler import Scheduler


def prompt(tokens: int, seed: int) -> bytes:
    return numpy.random.default_rng(seed).integers(5, 200, tokens).tobytes()


def test_a_newcomer_shares_no_step_with_a_slice_and_the_next_waits_for_a_small_one(tiny_text: ModelSource) -> None:
    # A cache that grows with what runs would lose slices.
    worker = Scheduler(load(LoadModel(str(tiny_text.path), 64, cache_size=1)), max_sequences=64)

    def computed() -> int:
        return worker._slices[1].computed

    def is_next(id: int) -> bool:
        worker.receive(worker_requests.generate(id, prompt(20, seed=id), 1))
        return any(output.id == id for output in worker.step().outputs)

    worker.receive(worker_requests.generate(1, prompt(4000, seed=1), 1))
    worker.step()
    large = computed()
    assert large == 256
    assert is_next(2)
    assert computed() == large
    worker.step()
    assert 0 < computed() - large <= large / 2
    assert is_next(3)
    worker.step()
    assert computed() - large <= large
    for id in range(4, 8):  # all at once: they begin together, and the slice has its turn
        worker.receive(worker_requests.generate(id, prompt(20, seed=id), 1))
    before = computed()
    assert {output.id for output in worker.step().outputs} == {4, 5, 6, 7}
    worker.step()
    assert computed() > before
