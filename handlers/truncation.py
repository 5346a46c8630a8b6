"""How much of a prompt is kept: the fields that chat and completions have for it."""

from specvino.engine.request import Truncation
from specvino.generated import models
from specvino.handlers.or_none import or_none

PARAM = "truncate_prompt_tokens"

_AS_MANY_AS_FIT = -1


def truncation(body: models.CreateChatCompletionRequest | models.CreateCompletionRequest) -> Truncation | None:
    """Returns how long prompts are cut, None where they aren't."""
    tokens = or_none(body.truncate_prompt_tokens)
    if tokens is None:
        return None
    return Truncation(None if tokens == _AS_MANY_AS_FIT else tokens, or_none(body.truncation_side) or "left")
