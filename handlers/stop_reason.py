"""What ended a text, for callers of vLLM, whose settings of stopping tell that they are: others know no such field."""

from specvino.generated import models
from specvino.generated.handlers import RequestContext
from specvino.handlers.or_none import or_none


def shows_stop_reason(
    context: RequestContext, body: models.CreateChatCompletionRequest | models.CreateCompletionRequest
) -> bool:
    """Returns whether the answer's choices have a stop_reason."""
    asked = or_none(body.stop_token_ids) is not None or or_none(body.include_stop_str_in_output) is not None
    return asked or context.extensions
