"""How much a model may reason before it answers, under the names that the systems have for it."""

from dataclasses import dataclass

from pydantic import BaseModel

from specvino.document.loading import group
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import ThinkingBudget
from specvino.handlers.or_none import or_none, value_of


@dataclass(frozen=True, slots=True)
class BudgetFields:
    """The field of a request that bounds its reasoning, and the text that stands where it is ended."""

    param: str = ""
    tokens: int | None = None
    message: str = ""


def budget_fields(body: BaseModel) -> BudgetFields:
    """Returns the first field that bounds the reasoning, of those that the endpoint has."""
    message = or_none(getattr(body, "reasoning_budget_message", None)) or ""
    for param in group("thinking_budget").paths:
        tokens = value_of(body, param)
        if tokens is not None:
            return BudgetFields(param, None if tokens < 0 else tokens, message)
    return BudgetFields()


def thinking_budget(fields: BudgetFields, model: ModelInfo) -> ThinkingBudget | None:
    """Returns the budget; None without one, and where the model's reasoning can't be ended."""
    if fields.tokens is None or not model.thinking_budgets:
        return None
    return ThinkingBudget(fields.tokens, fields.message)


def budget_unsupported(fields: BudgetFields, model: ModelInfo) -> tuple[str, ...]:
    """Returns the field without effect, if it has none."""
    return (fields.param,) if fields.tokens is not None and not model.thinking_budgets else ()
