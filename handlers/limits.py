"""The checks of a request beyond its schema: the conditions of openapi/conditions.yaml, with the server's facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import BaseModel

from specvino.document.conditions import Condition
from specvino.document.loading import conditions_of
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import MAX_IMAGE_RATIO
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import OPERATIONS
from specvino.handlers.errors import ApiError
from specvino.handlers.fields import lookup
from specvino.handlers.media.rules import MAX_BYTES, MAX_IMAGES, MAX_PIXELS

# The maximum number of characters that are tokenized for a request, since other requests wait: prose has four for a
# token, so a text with more for each of the model's context is much longer than a prompt may be.
FOR_A_TOKEN = 8
LONGEST = 1 << 16  # if the context is short

ENDPOINTS = {operation.model: operation.endpoint for operation in OPERATIONS.values() if operation.body}


@dataclass(frozen=True)
class Limits:
    """The operator's limits for requests. `max_tokens` is the largest token limit, None for the model's context;
    `best_of` the largest beam width, None for the document's.
    `seconds` is the time limit of a request, from its check to its end, None for no limit. `stores_responses` is
    whether there is a store.
    """

    max_tokens: int | None = None
    best_of: int | None = None
    seconds: float | None = None
    trust_request_chat_template: bool = False
    stores_responses: bool = False

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The facts about the server that don't depend on the model."""
        return {
            "max_tokens": self.max_tokens,
            "best_of": self.best_of,
            "trusts_chat_templates": self.trust_request_chat_template,
            "stores_responses": self.stores_responses,
            "images": MAX_IMAGES,
            "image_bytes": MAX_BYTES,
            "image_pixels": MAX_PIXELS,
            "image_ratio": MAX_IMAGE_RATIO,
        }

    def facts_with(self, model: ModelInfo) -> dict[str, Any]:
        """Returns the facts about the server with a model."""
        return self.facts | {
            "drafting": model.drafting,
            "full_logits": model.full_logits,
            "last_token_id": model.vocabulary_size - 1,
            "thinking_budgets": model.thinking_budgets,
            "context_length": model.context_length,
            "vision": model.vision,
            "calls_tools": model.calling is not None,
            "drafted_tokens": model.drafted_tokens,
            "tokenizer_tokens": model.tokenizer_tokens,
            "tokenized_characters": tokenized_characters(model),
        }


def tokenized_characters(model: ModelInfo) -> int:
    """Returns the maximum number of characters that are tokenized for one request."""
    return max(LONGEST, FOR_A_TOKEN * model.context_length)


def require_consistent(body: BaseModel) -> None:
    """Raises ApiError for a body that meets a condition that other endpoints have in their schemas."""
    _require(body, conditions_of(ENDPOINTS[type(body)]).like_schema, {})


def require_supported(body: BaseModel, facts: Mapping[str, Any]) -> None:
    """Raises ApiError for a body that meets any other condition, on a server with these facts."""
    _require(body, conditions_of(ENDPOINTS[type(body)]).others, facts)


def _require(body: BaseModel, conditions: Iterable[Condition], facts: Mapping[str, Any]) -> None:
    value = lookup(body)
    for condition in conditions:
        if refusal := condition.refusal(value, facts):
            raise ApiError(ErrorCode(refusal.code), refusal.message, param=refusal.param, reason=refusal.reason)
