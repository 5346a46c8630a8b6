"""The fields of a response request, as the pipeline reads them."""

from specvino.engine.segments import Hidden
from specvino.generated import models
from specvino.handlers.or_none import or_none
from specvino.handlers.pipeline import RequestFields

_HIDDEN: dict[Hidden, str] = {
    "tools": "tools",
    "content": "input[].content",
    "arguments": "input[].arguments",
    "reasoning": "input[].content",
}


def request_fields(body: models.CreateResponseRequest) -> RequestFields:
    """Returns the fields as the pipeline names them."""
    return RequestFields(
        body=body,
        prompt_param="input",
        logprobs=_wants_logprobs(body),
        top_logprobs=or_none(body.top_logprobs) or 0,
        hidden=_HIDDEN,
    )


def _wants_logprobs(body: models.CreateResponseRequest) -> bool:
    included = "message.output_text.logprobs" in (or_none(body.include) or ())
    return included or bool(or_none(body.logprobs)) or bool(or_none(body.top_logprobs))
