"""Whose slice is next, and what becomes of a prompt when its slice has ended."""

from typing import Any, cast

import pytest
from openvino_genai import GenerationStatus
from support import worker_requests

from specvino.engine.openvino.worker.prompt_slices import PromptSlices, SlicedPrompt

RUNNING, FINISHED, IGNORED = GenerationStatus.RUNNING, GenerationStatus.FINISHED, GenerationStatus.IGNORED


class Handle:
    """Says one state after the other."""

    def __init__(self, *states: GenerationStatus) -> None:
        self.states = list(states)

    def can_read(self) -> bool:
        return False

    def get_status(self) -> GenerationStatus:
        return self.states.pop(0)


def sliced(slices: PromptSlices, id: int, tokens: int) -> SlicedPrompt:
    slices.add(worker_requests.generate(id, bytes(8 * tokens), 1), 0)
    return slices[id]


def begin(slices: PromptSlices, prompt: SlicedPrompt, *states: GenerationStatus) -> None:
    slices.began(prompt, slices.new_id(), cast("Any", Handle(*states)), prompt.computed + 256)


def test_a_slice_is_what_a_step_computes_beside_others_in_whole_blocks() -> None:
    slices = PromptSlices(256)
    assert [slices.tokens(running, 0) for running in (0, 1, 32, 33, 250, 300)] == [256, 224, 224, 192, 32, 32]


def test_slices_get_smaller_as_the_context_grows_and_more_so_beside_answers() -> None:
    slices = PromptSlices(256, hidden_size=1024)
    contexts = (0, 1024, 4096, 8192, 16384, 32768, 10**6)
    assert [slices.tokens(0, context) for context in contexts] == [256, 256, 192, 128, 64, 32, 32]
    assert [slices.tokens(1, context) for context in contexts] == [224, 224, 96, 64, 32, 32, 32]
    assert PromptSlices(256, hidden_size=4096).tokens(0, 16384) == 192


def test_slices_are_small_while_short_requests_come() -> None:
    slices = PromptSlices(256, hidden_size=1024)
    slices.make_way()
    assert slices.tokens(0, 0) == 256  # it makes way for nobody: no prompt is in slices
    prompt = sliced(slices, 1, 10**5)
    slices.make_way()
    assert [slices.tokens(0, context) for context in (0, 1024, 4096, 8192)] == [128, 64, 32, 32]
    assert slices.tokens(1, 0) == 128
    small = 0
    while slices.tokens(0, 0) == 128:
        begin(slices, prompt, FINISHED)
        assert list(slices.stepped()) == [prompt]
        small += 1
    assert small == 64
    assert slices.tokens(0, 0) == 256


def test_the_least_that_is_left_is_next() -> None:
    slices = PromptSlices(256)
    long, short = sliced(slices, 1, 2000), sliced(slices, 2, 700)
    assert slices.next(()) is short
    begin(slices, short, RUNNING)
    assert slices.next(()) is long
    long.cancelled = True
    assert slices.next(()) is None


@pytest.mark.parametrize(
    ("states", "computed", "whole"),
    [
        ([FINISHED], 256, False),
        ([RUNNING, RUNNING, RUNNING, FINISHED], 256, False),
        ([RUNNING, RUNNING, RUNNING, RUNNING, FINISHED], 0, True),  # the cache had lost what came before
        ([IGNORED], 0, True),  # the cache has no room
    ],
)
def test_what_a_slice_has_come_to(states: list[GenerationStatus], computed: int, *, whole: bool) -> None:
    slices = PromptSlices(256)
    prompt = sliced(slices, 1, 2000)
    begin(slices, prompt, *states)
    for _ in states[:-1]:
        assert not list(slices.stepped())
        assert slices.under_way
    assert list(slices.stepped()) == [prompt]
    assert (prompt.computed, prompt.unsliced, slices.under_way) == (computed, whole, False)
