"""How many tokens a model may reason before it answers, under the names that the systems have for it."""

from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Sampling, ThinkingBudget
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.or_none import value_of
from specvino.handlers.sampling import Body

# The first one that is given counts.
PARAMS = ("thinking_token_budget", "reasoning_max_tokens", "thinking_budget_tokens", "reasoning_budget_tokens")


def thinking_budget(body: Body, sampling: Sampling, model: ModelInfo) -> tuple[ThinkingBudget | None, tuple[str, ...]]:
    """Returns the budget, None without one, and the field without effect if the model's reasoning can't be ended.

    Raises ApiError.
    """
    param, tokens = next(
        ((name, tokens) for name in PARAMS if (tokens := value_of(body, name)) is not None), ("", None)
    )
    if tokens is None or tokens < 0:  # negative: no budget
        return None, ()
    if not model.thinking_budgets:
        return None, (param,)
    if sampling.best_of > 1:
        message = f"{param} can't be combined with best_of above 1: the texts of a beam search come whole."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param=param)
    return ThinkingBudget(tokens, value_of(body, "reasoning_budget_message") or ""), ()
