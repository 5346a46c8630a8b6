"""Sequences share the steps: prompts by pieces, one a step, and no more than the memory holds."""

from array import array
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from support.conversation import GREEDY

from specvino.engine.models import ModelSource
from specvino.engine.openvino.full_logits.chunks import chunk_tokens
from specvino.engine.openvino.full_logits.model_runner import Decoder, ModelRunner, load
from specvino.engine.openvino.full_logits.scheduler import Scheduler
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import Cancel, Generate


@pytest.fixture(scope="module")
def model(tiny_text: ModelSource) -> ModelRunner:
    return load(str(tiny_text.path), PipelineOptions())


def asked(id: int, tokens: int = 3, prompt: int = 4, **changes: Any) -> Generate:
    ids = array("q", range(1, prompt + 1)).tobytes()
    return Generate(id, changes.pop("request", id), ids, GREEDY, tokens, seed=0, **changes)


def made(loop: Scheduler, most: int = 100) -> Counter[int]:
    """How many tokens each sequence gets until all have ended."""
    counts: Counter[int] = Counter()
    for _ in range(most):
        if loop.idle:
            return counts
        for output in loop.step().outputs:
            assert output.error is None
            counts[output.id] += len(output.token_ids)
    raise AssertionError("it doesn't end")


def test_all_get_their_tokens(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=2, step_tokens=8)
    for id in range(5):
        loop.receive(asked(id))
    first = loop.step()
    assert (first.running, first.waiting) == (2, 3)
    assert made(loop) + Counter(output.id for output in first.outputs) == Counter(dict.fromkeys(range(5), 3))


def test_copies_are_sequences(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    loop.receive(asked(0, copies=3))
    assert made(loop) == {0: 3, 1: 3, 2: 3}


def texts(loop: Scheduler, most: int = 100) -> dict[int, list[int]]:
    ids_by_request: dict[int, list[int]] = {}
    for _ in range(most):
        if loop.idle:
            break
        for output in loop.step().outputs:
            ids_by_request.setdefault(output.id, []).extend(output.token_ids)
    return ids_by_request


@pytest.mark.parametrize("tokens", [1, 6])
def test_the_prompt_of_copies_is_read_once(model: ModelRunner, tokens: int) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    loop.receive(asked(0, prompt=80, tokens=tokens, copies=5))
    loop.receive(asked(9, prompt=80, tokens=tokens))  # another request's
    counts = [len(loop.step().outputs) for _ in range(11)]  # ten pieces, and one of the other request
    assert counts == [0] * 10 + [5]
    by_request = texts(loop)
    first = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    first.receive(asked(0, prompt=80, tokens=tokens))
    alone = texts(first)[0]
    assert by_request.pop(9) == alone
    assert all(text == alone[1:] for text in by_request.values())


def test_the_next_one_reads_on_where_the_first_is_cancelled(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    loop.receive(asked(0, prompt=40, copies=3))
    for id in (0, 1):
        loop.step()
        loop.receive(Cancel(id))
    assert {id: len(text) for id, text in texts(loop).items()} == {2: 3}


def test_a_long_prompt_keeps_nobody_waiting(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    loop.receive(asked(0, tokens=30))
    loop.step()
    loop.receive(asked(1, prompt=80))
    loop.receive(asked(2, prompt=80))
    ids = [[output.id for output in loop.step().outputs] for _ in range(20)]
    assert ids[:11] == [[0]] * 10 + [[0, 1]]
    assert all(0 in step for step in ids)
    assert ids[19] == [0, 2]


def test_a_prompt_in_pieces_is_the_same_prompt(model: ModelRunner) -> None:
    scored = []
    for step_tokens in (7, 100):
        loop = Scheduler(model, frozenset(), max_sequences=1, step_tokens=step_tokens)
        loop.receive(asked(0, prompt=40, echo=True, logprobs=True, top_logprobs=2))
        outputs = [output for _ in range(20) if not loop.idle for output in loop.step().outputs]
        assert outputs[0].prompt_logprobs is not None
        scored.append((outputs[0].prompt_logprobs[1:], [output.token_ids for output in outputs]))
    assert scored[0][0] == pytest.approx(scored[1][0], abs=0.001)
    assert len(scored[0][0]) == 39
    assert scored[0][1] == scored[1][1]


def test_who_is_cancelled_leaves_at_once(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=1, step_tokens=8)
    for id in range(3):
        loop.receive(asked(id, tokens=1000))
    loop.step()
    for id in (1, 0):
        loop.receive(Cancel(id))
    assert (loop.step().running, made(loop, 2000)) == (1, {2: 999})


def test_a_prompt_has_room_or_waits(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8, cache_tokens=24)
    for id in range(4):
        loop.receive(asked(id))  # of 4 and 3 tokens, with room for twice as many
    step = loop.step()
    assert (step.running, step.waiting) == (2, 2)
    assert 0 < step.cache_usage <= 100
    assert set(made(loop)) == {0, 1, 2, 3}
    loop.receive(asked(5, tokens=50))
    assert loop.step().running == 1


def test_what_does_not_grow_takes_room_too(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8, cache_tokens=48, sequence_tokens=10)
    for id in range(4):
        loop.receive(asked(id))  # 14 tokens for what grows
    step = loop.step()
    assert (step.running, step.waiting) == (2, 2)
    assert step.cache_usage == 100 * (2 * 2 * 4 + 2 * 10) / 48
    assert set(made(loop)) == {0, 1, 2, 3}


def test_who_grows_beyond_the_memory_goes_on_later(model: ModelRunner) -> None:
    """The newest give their memory back, more than once, and get the tokens that they would have had."""
    expected: dict[int, list[int]] = {}
    for id in range(4):
        alone = Scheduler(model, frozenset(), max_sequences=1, step_tokens=8)
        alone.receive(asked(id, tokens=400, prompt=4 + id))
        expected |= texts(alone, 1000)
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=64, cache_tokens=2200)
    for id in range(4):
        loop.receive(asked(id, tokens=400, prompt=4 + id))
    ids_by_request: dict[int, list[int]] = {}
    running = []
    for _ in range(5000):
        if loop.idle:
            break
        step = loop.step()
        running.append(step.running)
        assert step.cache_usage <= 100
        for output in step.outputs:
            ids_by_request.setdefault(output.id, []).extend(output.token_ids)
    assert ids_by_request == expected
    beginnings = [now for before, now in pairwise(running) if now > before]
    assert running[0] == 4
    assert beginnings  # of those that gave their memory back


def test_who_waits_with_tokens_of_its_own_can_leave(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=64, cache_tokens=1200)
    for id in range(2):
        loop.receive(asked(id, tokens=500))
    while loop.step().running == 2:
        pass
    loop.receive(Cancel(1))
    assert loop.step().waiting == 0
    assert set(made(loop, 1000)) == {0}


def ended(loop: Scheduler) -> list[int]:
    """The requests in the order in which they end; each has one token."""
    ids = []
    while not loop.idle:
        ids += [output.id for output in loop.step().outputs]
    return ids


def test_clients_take_turns_and_of_a_client_the_shortest_prompt_is_next(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    for id in range(3):
        loop.receive(asked(id, prompt=80, tokens=1, client="a"))
    loop.step()
    loop.receive(asked(3, prompt=80, tokens=1, client="b"))
    loop.receive(asked(4, prompt=8, tokens=1, client="c"))
    assert ended(loop) == [4, 3, 0, 1, 2]


def test_a_short_prompt_waits_for_one_chunk_of_long_ones_of_its_client(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    for id in range(4):
        loop.receive(asked(id, prompt=80, tokens=1))
    for _ in range(5):
        loop.step()
    loop.receive(asked(4, prompt=8, tokens=1))
    assert [output.id for output in loop.step().outputs] == [4]
    assert ended(loop) == [0, 1, 2, 3]


def test_long_prompts_leave_slots_for_short_ones(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=4, step_tokens=8)
    for id in range(8):
        loop.receive(asked(id, prompt=80, tokens=1))
    assert (loop.step().running, loop.step().running) == (2, 2)
    loop.receive(asked(8, prompt=8, tokens=1))
    loop.receive(asked(9, prompt=80, tokens=1, client="other"))
    assert loop.step().running == 4
    assert [output.id for output in loop.step().outputs] == [8]
    assert set(ended(loop)) == {*range(8), 9}


def test_copies_of_a_long_prompt_begin_together(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=4, step_tokens=8)
    loop.receive(asked(0, prompt=80, tokens=1, copies=3))
    assert loop.step().running == 3


def test_no_prompt_is_passed_over_forever(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    loop.receive(asked(0, prompt=80, tokens=1))
    for id in range(1, 200):
        loop.receive(asked(id, prompt=8, tokens=1))
        if any(output.id == 0 for output in loop.step().outputs):
            break
    assert 80 <= id <= 100


def test_chunks_are_bounded_by_their_work() -> None:
    assert [chunk_tokens(256, 576, computed) for computed in (0, 576, 2000, 8000)] == [48, 24, 11, 4]
    assert [chunk_tokens(256, None, computed) for computed in (0, 2048)] == [48, 24]
    assert chunk_tokens(16, 576, 0) == 16


def test_a_newcomer_is_no_reason_to_forget_a_long_prompt(model: ModelRunner) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    loop.receive(asked(0, prompt=80, tokens=1, client="a"))
    for id in range(1, 60):
        loop.receive(asked(id, prompt=8, tokens=1, client=f"client {id}"))
        if any(output.id == 0 for output in loop.step().outputs):
            return
    raise AssertionError("the long prompt isn't read")


def test_a_model_that_fails_is_of_no_more_use(model: ModelRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Scheduler(model, frozenset(), max_sequences=8, step_tokens=8)
    loop.receive(asked(0))
    monkeypatch.setattr(Decoder, "read", lambda self, ids: (_ for _ in ()).throw(RuntimeError("bad allocation")))
    with pytest.raises(RuntimeError, match="bad allocation"):
        loop.step()
