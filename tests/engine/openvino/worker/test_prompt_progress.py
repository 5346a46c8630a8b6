"""The pipeline has as many prompts as fill a step."""

import numpy

from specvino.engine.openvino.messages.worker import STEP_CONTEXTS
from specvino.engine.openvino.worker.prompt_progress import ComputedPrompts, PromptBacklog


def test_prompts_come_until_a_step_is_full() -> None:
    backlog = PromptBacklog(256)
    backlog.add(1, 255, 255)
    assert backlog.has_room
    backlog.add(2, 1, 1)
    assert not backlog.has_room


def test_a_long_prompt_is_counted_by_steps() -> None:
    backlog = PromptBacklog(256)
    backlog.add(1, 1024, 1024)
    for _ in range(3):
        backlog.stepped()
        assert not backlog.has_room
    backlog.stepped()
    assert backlog.has_room


def test_a_prompt_from_the_cache_takes_no_time() -> None:
    backlog = PromptBacklog(256)
    backlog.add(1, 8000, 8000)
    backlog.done(1)
    assert backlog.has_room
    backlog.done(2)


def test_a_step_computes_several_prompts() -> None:
    backlog = PromptBacklog(256)
    for id in range(6):
        backlog.add(id, 100, 100)
    backlog.stepped()
    assert not backlog.has_room
    backlog.stepped()
    assert backlog.has_room


def ids(*tokens: int) -> bytes:
    return numpy.array(tokens, numpy.int64).tobytes()


def test_the_contexts_of_a_step_are_limited_by_the_longest() -> None:
    backlog = PromptBacklog(256)
    assert backlog.fits(10 * STEP_CONTEXTS)  # by itself
    backlog.add(1, 1, STEP_CONTEXTS // 4)
    backlog.add(2, 1, 10)
    assert backlog.fits(STEP_CONTEXTS // 4)
    assert not backlog.fits(STEP_CONTEXTS // 2)
    backlog.add(3, 1, 10)
    backlog.add(4, 1, 10)
    assert not backlog.fits(1)
    backlog.done(1)
    assert backlog.fits(1)
    backlog.stepped()
    assert backlog.fits(10 * STEP_CONTEXTS)


def test_whole_blocks_from_the_beginning_are_known() -> None:
    computed = ComputedPrompts()
    computed.add(ids(*range(100)))
    assert computed.tokens(ids(*range(100))) == 96
    assert computed.tokens(ids(*range(70), 1, 2)) == 64
    assert computed.tokens(ids(*range(31))) == 0
    assert computed.tokens(ids(7, *range(1, 100))) == 0
    assert computed.tokens(ids(*range(32, 96))) == 0  # the same block at another place
    assert computed.tokens(b"") == 0


def test_what_was_met_last_stays_and_beginnings_longest() -> None:
    computed = ComputedPrompts(most_tokens=128)
    computed.add(ids(*range(96)))
    computed.add(ids(*range(1000, 1064)))
    assert computed.tokens(ids(*range(96))) == 64
    computed.add(ids(*range(64)))
    computed.add(ids(*range(2000, 2032)))
    assert computed.tokens(ids(*range(64))) == 64
    assert computed.tokens(ids(*range(1000, 1064))) == 32
