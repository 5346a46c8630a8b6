"""How many tokens a model may reason before it answers, under the names that the systems have for it."""

from specvino.document.loading import group
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import ThinkingBudget
from specvino.handlers.or_none import value_of
from specvino.handlers.sampling import Body


def thinking_budget(body: Body, model: ModelInfo) -> tuple[ThinkingBudget | None, tuple[str, ...]]:
    """Returns the budget, None without one, and the field without effect if the model's reasoning can't be ended. Of
    several fields the first one of the group counts."""
    for name in group("thinking_budget").paths:
        tokens = value_of(body, name)
        if tokens is None:
            continue
        if tokens < 0:  # no budget
            return None, ()
        if not model.thinking_budgets:
            return None, (name,)
        return ThinkingBudget(tokens, value_of(body, "reasoning_budget_message") or ""), ()
    return None, ()
