"""The fields of a response request, as the pipeline reads them."""

from specvino.engine.segments import Hidden
from specvino.generated import models
from specvino.handlers.or_none import or_none
from specvino.handlers.pipeline import RequestFields
from specvino.handlers.structured_outputs import FormatFields, constraint_fields
from specvino.handlers.template import TemplateFields
from specvino.handlers.tools import ToolFields

_HIDDEN: dict[Hidden, str] = {
    "tools": "tools",
    "content": "input[].content",
    "arguments": "input[].arguments",
    "reasoning": "input[].content",
}


def request_fields(body: models.CreateResponseRequest) -> RequestFields:
    """Returns the fields as the pipeline names them."""
    reasoning, text = or_none(body.reasoning), or_none(body.text)
    return RequestFields(
        body=body,
        prompt_param="input",
        max_tokens=or_none(body.max_output_tokens),
        logprobs=_wants_logprobs(body),
        top_logprobs=or_none(body.top_logprobs) or 0,
        tools=ToolFields(
            tools=or_none(body.tools) or (),
            tool_choice=or_none(body.tool_choice),
            parallel_tool_calls=or_none(body.parallel_tool_calls) is not False,
        ),
        format=FormatFields(
            or_none(body.response_format), or_none(text.format) if text else None, constraint_fields(body)
        ),
        template=TemplateFields(
            or_none(body.chat_template_kwargs),
            or_none(reasoning.effort) if reasoning else None,
            "reasoning.effort",
            hidden=_HIDDEN,
        ),
    )


def _wants_logprobs(body: models.CreateResponseRequest) -> bool:
    included = "message.output_text.logprobs" in (or_none(body.include) or ())
    return included or bool(or_none(body.logprobs)) or bool(or_none(body.top_logprobs))
