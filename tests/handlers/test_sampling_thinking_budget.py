"""Which field bounds the reasoning, and for which models it can."""

import pytest

from specvino.engine.protocol import ModelInfo
from specvino.engine.request import ThinkingBudget
from specvino.generated.models import CreateChatCompletionRequest, CreateResponseRequest
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import Limits, require_supported
from specvino.handlers.sampling import thinking_budget

ABLE = ModelInfo(100, 50, {}, thinking_budgets=True)
UNABLE = ModelInfo(100, 50, {})


def chat(**fields):
    return CreateChatCompletionRequest.model_validate({"model": "m", "messages": [], **fields})


def of(body, model=ABLE):
    require_supported(body, Limits().facts_with(model))
    return thinking_budget(body, model)


@pytest.mark.parametrize(
    ("fields", "budget"),
    [
        ({}, None),
        ({"thinking_token_budget": None}, None),
        ({"thinking_token_budget": -1, "reasoning_max_tokens": 3}, None),
        ({"thinking_token_budget": 0}, ThinkingBudget(0)),
        ({"reasoning_max_tokens": 3, "reasoning_budget_message": None}, ThinkingBudget(3)),
        ({"thinking_token_budget": 4, "reasoning_max_tokens": 3}, ThinkingBudget(4)),
        ({"reasoning_budget_tokens": 5, "thinking_budget_tokens": 6}, ThinkingBudget(6)),
        ({"reasoning_budget_tokens": 5, "reasoning_budget_message": " So."}, ThinkingBudget(5, " So.")),
        ({"reasoning_budget_message": " So."}, None),
    ],
)
def test_the_first_field_counts(fields, budget) -> None:
    assert of(chat(**fields)) == (budget, ())


def test_responses_have_other_names() -> None:
    body = {"model": "m", "input": "x", "thinking_token_budget": 4, "reasoning_budget_tokens": 5}
    assert of(CreateResponseRequest.model_validate(body)) == (ThinkingBudget(5), ())


def test_a_model_whose_reasoning_cannot_be_ended() -> None:
    assert of(chat(reasoning_max_tokens=3), UNABLE) == (None, ("reasoning_max_tokens",))
    assert of(chat(thinking_token_budget=-1), UNABLE) == (None, ())


def test_a_search_has_none() -> None:
    with pytest.raises(ApiError, match="thinking_token_budget can't be combined with best_of") as caught:
        of(chat(thinking_token_budget=3, best_of=2))
    assert caught.value.param == "thinking_token_budget"
