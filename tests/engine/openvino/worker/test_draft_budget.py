"""What may run beside each other where a pipeline drafts."""

import pytest
from support import worker_requests

from specvino.engine.openvino.messages.worker import Generate
from specvino.engine.openvino.worker.draft_budget import DraftBudget, draft_tokens


def sequence(id: int, prompt: int = 1, tokens: int = 10, drafts: int | None = None) -> Generate:
    return worker_requests.generate(id, bytes(8 * prompt), tokens, num_assistant_tokens=drafts)


@pytest.mark.parametrize("asked", [None, 1, 31, 1024])
def test_all_drafts_fit_into_a_step_and_each_has_one(asked: int | None) -> None:
    budget = DraftBudget("prompt_lookup", 64, None)
    drafts = [budget.begin(sequence(id, drafts=asked)) for id in range(64)]
    assert min(drafts) >= 1
    assert sum(drafts) + 64 <= draft_tokens(64)
    assert drafts[0] == min(asked or 5, draft_tokens(64) - 63 * 2 - 1)


def test_only_what_fits_into_the_cache_runs() -> None:
    budget = DraftBudget("prompt_lookup", 4, 1000)
    big = sequence(1, prompt=500, tokens=900)
    assert budget.admits(big)  # alone it may: the pipeline takes nothing from anybody
    budget.begin(big)
    assert not budget.admits(sequence(2))
    budget.end(big)
    budget.begin(sequence(3, prompt=300, tokens=100))
    assert budget.admits(sequence(4, prompt=300, tokens=100))
    assert not budget.admits(sequence(4, prompt=600, tokens=100))


def test_without_drafts_nothing_is_held_back() -> None:
    budget = DraftBudget(None, 4, 100)
    assert budget.begin(sequence(1, prompt=500)) == 0
    assert budget.admits(sequence(2, prompt=500))
