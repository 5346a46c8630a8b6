"""How much a model may reason before it answers, under the names that the systems have for it."""

from dataclasses import dataclass

from pydantic import BaseModel

from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Sampling, ThinkingBudget
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.or_none import or_none, value_of

# Of several that are given the first one counts.
PARAMS = ("thinking_token_budget", "reasoning_max_tokens", "thinking_budget_tokens", "reasoning_budget_tokens")


@dataclass(frozen=True, slots=True)
class BudgetFields:
    """The field of a request that bounds its reasoning, and the text that stands where it is ended."""

    param: str = ""
    tokens: int | None = None
    message: str = ""


def budget_fields(body: BaseModel) -> BudgetFields:
    """Returns the first field that bounds the reasoning, of those that the endpoint has."""
    message = or_none(getattr(body, "reasoning_budget_message", None)) or ""
    for param in PARAMS:
        tokens = value_of(body, param)
        if tokens is not None:
            return BudgetFields(param, None if tokens < 0 else tokens, message)
    return BudgetFields()


def thinking_budget(fields: BudgetFields, sampling: Sampling, model: ModelInfo) -> ThinkingBudget | None:
    """Returns the budget; None without one, and where the model's reasoning can't be ended. Raises ApiError."""
    if fields.tokens is None or not model.thinking_budgets:
        return None
    if sampling.best_of > 1:
        message = f"{fields.param} can't be combined with best_of above 1: the texts of a search come whole."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param=fields.param)
    return ThinkingBudget(fields.tokens, fields.message)


def budget_unsupported(fields: BudgetFields, model: ModelInfo) -> tuple[str, ...]:
    """Returns the field without effect, if it has none."""
    return (fields.param,) if fields.tokens is not None and not model.thinking_budgets else ()
