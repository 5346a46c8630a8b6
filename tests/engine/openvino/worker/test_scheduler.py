"""The step loop's inside, on a real pipeline."""

from collections import defaultdict
from typing import Any

import numpy
import openvino_genai
import pytest
from openvino_genai import ContinuousBatchingPipeline, Tokenizer
from support import worker_requests
from support.conversation import conversation

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.models import ModelSource
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import Cancel, Generate, LoadModel, Output, Step
from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
from specvino.engine.openvino.worker import grammar_compiler
from specvino.engine.openvino.worker.draft_budget import draft_tokens
from specvino.engine.openvino.worker.pipeline import capacity, load
from specvino.engine.openvino.worker.prompt_slices import PromptSlices
from specvino.engine.openvino.worker.scheduler import Scheduler
from specvino.engine.protocol import Drafting


@pytest.fixture(scope="module")
def preprocessor(tiny_text: ModelSource) -> Preprocessor:
    return Preprocessor(Tokenizer(tiny_text.path))


@pytest.fixture
def worker(tiny_text: ModelSource) -> Scheduler:
    return Scheduler(load(LoadModel(str(tiny_text.path), 4)), max_sequences=4)


@pytest.fixture
def generate(preprocessor: Preprocessor) -> Any:
    def make(id: int, text: str = "hello", **changes: Any) -> Generate:
        settings: dict[str, Any] = {
            "max_new_tokens": 100,
            "token_ids": preprocessor.preprocess(conversation(text)),
        }
        return worker_requests.generate(id, **{**settings, **changes})

    return make


def run(worker: Scheduler, limit: int = 2000) -> tuple[dict[int, list[Output]], list[Step]]:
    """Steps until idle; returns the outputs by sequence, and all steps."""
    outputs = defaultdict(list)
    steps = []
    while not worker.idle:
        steps.append(worker.step())
        for output in steps[-1].outputs:
            outputs[output.id].append(output)
        assert len(steps) < limit
    return outputs, steps


def tokens(outputs: list[Output]) -> list[int]:
    return [token for output in outputs for token in output.token_ids]


def test_a_sequence_ends_with_its_end_of_turn_token(worker: Scheduler, generate: Any, tiny_text: ModelSource) -> None:
    worker.receive(generate(1))
    outputs, steps = run(worker)
    assert outputs[1][-1].finish == "stop"
    assert [o.finish for o in outputs[1][:-1]] == [None] * (len(outputs[1]) - 1)
    end = Tokenizer(tiny_text.path).get_eos_token_id()
    assert tokens(outputs[1]).index(end) == len(tokens(outputs[1])) - 1
    assert steps[-1].running == 0
    assert steps[-1].cache_usage == 0


def test_the_token_limit(worker: Scheduler, generate: Any) -> None:
    worker.receive(generate(1, max_new_tokens=5))
    worker.receive(generate(2, max_new_tokens=60, ignore_eos=True))
    outputs, _ = run(worker)
    assert (len(tokens(outputs[1])), outputs[1][-1].finish) == (5, "length")
    assert (len(tokens(outputs[2])), outputs[2][-1].finish) == (60, "length")


def test_only_so_many_run_and_the_others_wait(worker: Scheduler, generate: Any) -> None:
    for id in range(10):
        worker.receive(generate(id, max_new_tokens=20, ignore_eos=True))
    first = worker.step()
    assert (first.running, first.waiting) == (4, 6)
    outputs, steps = run(worker)
    assert max(step.running for step in steps) == 4
    assert all(outputs[id][-1].finish == "length" for id in range(10))


def test_a_search_counts_as_wide_as_it_is(worker: Scheduler, generate: Any) -> None:
    for id, best_of in enumerate([3, 1, 1, 9]):
        worker.receive(generate(id, best_of=best_of, max_new_tokens=20, ignore_eos=True))
    assert (worker.step().running, worker.step().waiting) == (2, 2)
    outputs, _ = run(worker)
    assert [outputs[id][-1].finish for id in range(4)] == ["length"] * 4


def test_cancelling_frees_the_cache(worker: Scheduler, generate: Any) -> None:
    for id in range(6):
        worker.receive(generate(id, max_new_tokens=1000, ignore_eos=True))
    for _ in range(50):
        step = worker.step()
    assert step.cache_usage > 0
    for id in range(6):  # four running, two waiting
        worker.receive(Cancel(id))
    outputs, steps = run(worker)
    assert not outputs
    assert (steps[-1].running, steps[-1].waiting, steps[-1].cache_usage) == (0, 0, 0)
    worker.receive(generate(7))
    assert run(worker)[0][7][-1].finish == "stop"


def test_cancelling_one_leaves_the_others(worker: Scheduler, generate: Any) -> None:
    worker.receive(generate(1))
    alone = tokens(run(worker)[0][1])
    worker.receive(generate(2))
    worker.receive(generate(3, max_new_tokens=1000, ignore_eos=True))
    worker.step()
    worker.receive(Cancel(3))
    worker.receive(Cancel(99))  # never heard of
    outputs, _ = run(worker)
    assert tokens(outputs[2]) == alone[len(alone) - len(tokens(outputs[2])) :]
    assert outputs[2][-1].finish == "stop"
    assert 3 not in outputs


@pytest.mark.parametrize("wrong", [{"top_p": 2}, {"token_ids": b""}, {"repetition_penalty": 0}])
def test_a_rejected_request_fails_alone(worker: Scheduler, generate: Any, wrong: dict[str, Any]) -> None:
    worker.receive(generate(1))
    worker.receive(generate(2, temperature=1, **wrong))
    outputs, _ = run(worker)
    assert outputs[1][-1].finish == "stop"
    assert [output.error is not None for output in outputs[2]] == [True]
    assert "\n" not in str(outputs[2][0].error)
    assert ".cpp" not in str(outputs[2][0].error)


@pytest.mark.parametrize("id", [-1, 1000])
def test_a_token_that_the_model_lacks_breaks_the_pipeline(worker: Scheduler, generate: Any, id: int) -> None:
    # Why such ids mustn't get here (engine/prompt_checks.py).
    worker.receive(generate(1, token_ids=numpy.array([5, id], numpy.int64).tobytes(), repetition_penalty=1.1))
    with pytest.raises(RuntimeError, match="prompt_id < vocab_size"):
        run(worker)
    worker.receive(Cancel(1))
    run(worker)


def test_a_full_cache_is_an_error_of_the_request(tiny_text: ModelSource, generate: Any) -> None:
    scheduler = openvino_genai.SchedulerConfig()
    scheduler.num_kv_blocks = 8  # of 32 tokens each
    pipeline = openvino_genai.ContinuousBatchingPipeline(tiny_text.path, scheduler, "CPU", {})
    worker = Scheduler(pipeline, max_sequences=4)
    worker.receive(generate(1, max_new_tokens=1000, ignore_eos=True))
    outputs, _ = run(worker)
    assert outputs[1][-1].finish is None
    assert "memory" in str(outputs[1][-1].error)
    worker.receive(generate(2))
    assert run(worker)[0][2][-1].finish == "stop"


def test_a_seed_repeats_and_another_differs(worker: Scheduler, generate: Any) -> None:
    settings = {"temperature": 2.0, "ignore_eos": True, "max_new_tokens": 40}
    answers = []
    for id, seed in enumerate([1, 2, 1]):
        worker.receive(generate(id, seed=seed, **settings))
        answers.append(tokens(run(worker)[0][id]))
    assert answers[0] == answers[2] != answers[1]


@pytest.mark.parametrize("sampling", [{"top_k": 1}, {"top_p": 0}])
def test_what_else_is_greedy(worker: Scheduler, generate: Any, sampling: dict[str, Any]) -> None:
    worker.receive(generate(1))
    worker.receive(generate(2, temperature=2.0, seed=5, **sampling))
    outputs, _ = run(worker)
    assert tokens(outputs[1]) == tokens(outputs[2])


def test_a_newcomer_need_not_wait_for_what_another_asked_before(tiny_text: ModelSource, generate: Any) -> None:
    worker = Scheduler(load(LoadModel(str(tiny_text.path), 64)), max_sequences=64)
    prompts = [generate(0, text=f"hello {number} " * 60).token_ids for number in range(4)]
    for number, ids in enumerate(prompts):  # 512 sequences, of prompts of several hundred tokens
        worker.receive(
            generate(1000 * (number + 1), request=1, copies=128, token_ids=ids, max_new_tokens=400, ignore_eos=True)
        )
    for _ in range(100):
        step = worker.step()
    assert (step.running, step.running + step.waiting) == (48, 512)
    worker.receive(generate(1, request=2, max_new_tokens=400))
    first = next(number for number in range(10) if any(output.id == 1 for output in worker.step().outputs))
    assert first <= 1


def test_prompts_that_share_their_beginning_begin_together_once_it_was_computed(tiny_text: ModelSource) -> None:
    worker = Scheduler(load(LoadModel(str(tiny_text.path), 16)), max_sequences=16)
    prefix, *questions = numpy.random.default_rng(1).integers(5, 200, (10, 20))
    prompts = [numpy.concatenate([*[prefix] * 32, question]).tobytes() for question in questions]
    worker.receive(worker_requests.generate(1, prompts.pop(), 5))
    run(worker)
    for id, prompt in enumerate(prompts, start=2):
        worker.receive(worker_requests.generate(id, prompt, 500, ignore_eos=True))
    assert {output.id for output in worker.step().outputs} == set(range(2, 10))


def test_each_copy_has_a_seed_of_its_own(worker: Scheduler, generate: Any) -> None:
    settings = {"temperature": 2.0, "ignore_eos": True, "max_new_tokens": 20}
    worker.receive(generate(1, seed=2**64 - 1, copies=2, **settings))
    together = run(worker)[0]
    worker.receive(generate(3, seed=2**64 - 1, **settings))
    worker.receive(generate(4, seed=0, **settings))
    apart = run(worker)[0]
    assert [tokens(together[1]), tokens(together[2])] == [tokens(apart[3]), tokens(apart[4])]
    assert tokens(together[1]) != tokens(together[2])


def small(source: ModelSource, blocks: int, **properties: Any) -> Any:
    """A pipeline with a cache of so many blocks, each of 32 tokens."""
    scheduler = openvino_genai.SchedulerConfig()
    scheduler.num_kv_blocks = blocks
    scheduler.max_num_batched_tokens = PipelineOptions().max_num_batched_tokens + draft_tokens(16)
    return openvino_genai.ContinuousBatchingPipeline(source.path, scheduler, "CPU", properties)


@pytest.mark.parametrize("blocks", [8, 300])
@pytest.mark.parametrize("model", ["tiny_text", "tiny_vision"])
def test_how_much_a_cache_holds(request: pytest.FixtureRequest, model: str, blocks: int) -> None:
    pipeline = small(request.getfixturevalue(model), blocks)
    assert capacity(pipeline, None, 32) == blocks * 32
    assert pipeline.get_metrics().cache_usage == 0


@pytest.mark.parametrize("drafting", [None, "prompt_lookup"])
def test_a_cache_that_is_too_small_for_all_ends_nobody(
    tiny_text: ModelSource, generate: Any, drafting: Drafting | None
) -> None:
    properties = {"prompt_lookup": True} if drafting else {}
    pipeline = small(tiny_text, 30, **properties)
    worker = Scheduler(pipeline, 16, drafting=drafting, cache_tokens=capacity(pipeline, drafting, 32))
    for id in range(12):  # each fits alone, two of them don't
        worker.receive(generate(id, text=f"hello {id} " * 40, max_new_tokens=200, ignore_eos=True))
    outputs, _ = run(worker, 5000)
    assert [(len(tokens(outputs[id])), outputs[id][-1].finish) for id in range(12)] == [(200, "length")] * 12


def test_a_prompt_that_was_cancelled_half_way_spoils_no_other(tiny_text: ModelSource) -> None:
    """GenAI 2026.4.1 keeps a block that is half computed as if it were whole (decision 062). 28 running sequences take
    their tokens of each step, so that a step ends in the middle of a block."""
    ids = numpy.random.default_rng(1).integers(5, 200, 450).tobytes()

    def loop() -> Scheduler:
        return Scheduler(load(LoadModel(str(tiny_text.path), 32)), max_sequences=32)

    def asked(worker: Scheduler) -> list[Output]:
        worker.receive(worker_requests.generate(100, ids, 12, logprobs=True, ignore_eos=True))
        return run(worker)[0][100]

    worker = loop()
    worker.receive(worker_requests.generate(1, b"\5" + bytes(7), 5000, ignore_eos=True, copies=20))
    worker.step()
    worker.receive(worker_requests.generate(50, ids, 12, ignore_eos=True))
    worker.step()
    worker.receive(Cancel(50))
    assert worker.step().running == 20
    for id in range(1, 21):
        worker.receive(Cancel(id))
    after, clean = asked(worker), asked(loop())
    assert tokens(after) == tokens(clean)
    differences = [
        abs(one - other)
        for ours, theirs in zip(after, clean, strict=True)
        for one, other in zip(ours.logprobs or [], theirs.logprobs or [], strict=True)
    ]
    assert max(differences) < 0.05  # sums differ in their last bits


def test_a_beam_search_that_was_cancelled_ends_behind_its_prompt(worker: Scheduler) -> None:
    """It shows no token before its end."""
    ids = numpy.arange(5, 705).tobytes()
    worker.receive(worker_requests.generate(1, ids, 5000, best_of=3, ignore_eos=True))
    worker.step()
    worker.receive(Cancel(1))
    assert len(run(worker)[1]) <= 6


def prompt(tokens: int, seed: int = 1) -> bytes:
    return numpy.random.default_rng(seed).integers(5, 200, tokens).tobytes()


def first_step(worker: Scheduler, id: int) -> int:
    """In which of the next steps the sequence has its first token."""
    return next(step for step in range(1, 60) if any(output.id == id for output in worker.step().outputs))


@pytest.fixture
def long_context(tiny_text: ModelSource) -> Scheduler:
    """Its cache has room for all: one that grows with what runs would lose slices."""
    return Scheduler(load(LoadModel(str(tiny_text.path), 64, cache_size=1)), max_sequences=64)


def test_a_newcomer_waits_for_a_step_and_not_for_a_long_prompt(long_context: Scheduler) -> None:
    long = worker_requests.generate(1, prompt(2000), 50, ignore_eos=True)
    long_context.receive(long)
    assert long_context.step().running == 1
    long_context.receive(worker_requests.generate(2, prompt(20, seed=2), 50, ignore_eos=True))
    steps = first_step(long_context, 2)
    assert steps <= 2
    # Small slices, as the next newcomer is expected.
    slices = PromptSlices(256)
    slices.add(long, 0)
    slices.make_way()
    computed, small = 256, 0
    while computed < 2000:
        computed += slices.tokens(1, computed)
        small += 1
    assert small > 8
    assert first_step(long_context, 1) <= small + 1


def test_of_long_prompts_the_one_with_the_least_left_goes_on(long_context: Scheduler) -> None:
    long_context.receive(worker_requests.generate(1, prompt(2000), 50, ignore_eos=True))
    long_context.receive(worker_requests.generate(2, prompt(700, seed=2), 50, ignore_eos=True))
    assert first_step(long_context, 2) <= 6


def test_a_long_prompt_is_not_passed_over_for_ever(long_context: Scheduler) -> None:
    """Shorter ones come all the time."""
    long_context.receive(worker_requests.generate(1, prompt(2000), 1))
    for id in range(2, 120):
        long_context.receive(worker_requests.generate(id, prompt(600, seed=id), 1))
        if any(output.id == 1 for output in long_context.step().outputs):
            break
    else:
        raise AssertionError("its turn doesn't come")


@pytest.mark.parametrize("length", [256, 513, 640, 1000, 1984, 1999])
def test_a_prompt_in_slices_is_answered_as_one_in_a_piece(tiny_text: ModelSource, length: int) -> None:
    def answered(*, prefix_cache: bool) -> list[Output]:
        worker = Scheduler(load(LoadModel(str(tiny_text.path), 4)), 4, prefix_cache=prefix_cache)
        worker.receive(worker_requests.generate(1, prompt(length), 12, logprobs=True, ignore_eos=True))
        outputs, _ = run(worker)
        assert not outputs.keys() - {1}
        return outputs[1]

    sliced, whole = answered(prefix_cache=True), answered(prefix_cache=False)
    assert tokens(sliced) == tokens(whole)
    for one, other in zip(sliced, whole, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=0.05)  # sums differ in their last bits


def test_the_choices_of_a_long_prompt_find_it_computed(long_context: Scheduler) -> None:
    long_context.receive(worker_requests.generate(1, prompt(2000), 30, ignore_eos=True, copies=8))
    assert first_step(long_context, 1) <= 10
    assert first_step(long_context, 8) <= 2


def test_slices_that_the_cache_loses_are_no_endless_work(tiny_text: ModelSource) -> None:
    worker = Scheduler(load(LoadModel(str(tiny_text.path), 64)), max_sequences=64)  # its cache grows with what runs
    for id in range(1, 5):
        worker.receive(worker_requests.generate(id, prompt(2000, seed=id), 5, ignore_eos=True))
    outputs, steps = run(worker)
    assert all(len(tokens(outputs[id])) == 5 for id in range(1, 5))
    assert len(steps) < 60  # 32 without any loss, 40 with what is lost here


def test_cancelling_between_slices_frees_the_place_and_spoils_nothing(
    tiny_text: ModelSource, long_context: Scheduler
) -> None:
    def asked(worker: Scheduler) -> list[int]:
        worker.receive(worker_requests.generate(9, prompt(2000), 12, ignore_eos=True))
        return tokens(run(worker)[0][9])

    long_context.receive(worker_requests.generate(1, prompt(2000), 50, ignore_eos=True))
    for _ in range(3):
        long_context.step()
    long_context.receive(Cancel(1))
    assert long_context.step().running == 0
    outputs, steps = run(long_context)
    assert not outputs
    assert steps[-1].cache_usage == 0
    clean = Scheduler(load(LoadModel(str(tiny_text.path), 64, cache_size=1)), max_sequences=64)
    assert asked(long_context) == asked(clean)


def test_a_new_pipeline_has_computed_nothing(tiny_text: ModelSource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar_compiler, "MOST_COMPILED", 0)

    def loaded() -> ContinuousBatchingPipeline:
        return load(LoadModel(str(tiny_text.path), 64, cache_size=1))

    worker = Scheduler(loaded(), max_sequences=64)
    worker.receive(worker_requests.generate(1, prompt(2000), 1))
    run(worker)
    worker.renew(loaded)
    worker.receive(worker_requests.generate(2, prompt(2000), 1))
    worker.step()
    worker.receive(worker_requests.generate(3, prompt(20, seed=2), 1))
    assert first_step(worker, 3) <= 2


def test_a_grammar_for_a_long_prompt(long_context: Scheduler) -> None:
    """It is compiled when its prompt is computed; one that can't be compiled ends the request."""
    fits, broken = (LoweredConstraint("grammar", text) for text in ('root ::= "blue" | "green"', "root ::= nothing"))
    long_context.receive(worker_requests.generate(1, prompt(1000), 30, lowered=fits))
    long_context.receive(worker_requests.generate(2, prompt(1000, seed=2), 30, lowered=broken))
    outputs, _ = run(long_context)
    assert outputs[1][-1].finish == "stop"
    assert outputs[2][-1].error
