"""The part of a response that repeats its request, with the effective settings."""

from typing import Any, cast

from pydantic import MISSING, BaseModel

from specvino.engine.request import Sampling
from specvino.generated import models, wire
from specvino.generated.support import DEFAULTS
from specvino.handlers.fields import or_none
from specvino.handlers.responses.request import conversation_of

InputTool = (
    models.FlatFunctionTool
    | models.FunctionTool
    | models.FlatCustomTool
    | models.NamespaceTool
    | models.ToolSearchTool
    | models.HostedTool
)

_DEFAULTS = DEFAULTS["CreateResponseRequest"]


def request_echo(
    body: models.CreateResponseRequest,
    sampling: Sampling,
    id: str,
    created_at: int,
    stored: bool = False,
    *,
    top_logprobs: int = 0,
) -> wire.ResponseObject:
    """Returns the response before any output; `top_logprobs` is the number of most likely tokens that it contains."""
    background = or_none(body.background) or False
    response: wire.ResponseObject = {
        "id": id,
        "object": "response",
        "created_at": created_at,
        "completed_at": None,
        "status": "queued" if background else "in_progress",
        "incomplete_details": None,
        "error": None,
        "model": body.model,
        "previous_response_id": or_none(body.previous_response_id),
        "conversation": {"id": conversation} if (conversation := conversation_of(body)) else None,
        "instructions": or_none(body.instructions),
        "prompt": None,
        "output": [],
        "tools": [_tool(tool) for tool in or_none(body.tools) or ()],
        "tool_choice": _tool_choice(or_none(body.tool_choice)),
        "parallel_tool_calls": _or_default(body.parallel_tool_calls, "parallel_tool_calls"),
        "max_tool_calls": or_none(body.max_tool_calls),
        "truncation": or_none(body.truncation) or "disabled",
        "text": _text(or_none(body.text)),
        "reasoning": _reasoning(or_none(body.reasoning)),
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "top_logprobs": top_logprobs,
        "max_output_tokens": or_none(body.max_output_tokens),
        "store": stored,
        "background": background,
        "service_tier": "default",
        "metadata": or_none(body.metadata) or {},
        "safety_identifier": or_none(body.safety_identifier),
        "user": or_none(body.user),
        "prompt_cache_key": or_none(body.prompt_cache_key),
        "prompt_cache_retention": or_none(body.prompt_cache_retention),
        "moderation": None,
        "usage": None,
    }
    if options := _plain(body.prompt_cache_options):  # in OpenAI's document it isn't nullable
        response["prompt_cache_options"] = options
    return response


def _tool(
    tool: InputTool,
) -> wire.FlatFunctionTool | wire.FlatCustomTool | wire.NamespaceTool | wire.ToolSearchTool | wire.HostedTool:
    """Returns the tool as it was sent, with a nested function flattened, as clients of responses expect."""
    if isinstance(tool, models.FlatFunctionTool | models.FunctionTool):
        function = tool.function if isinstance(tool, models.FunctionTool) else tool
        # In OpenAI's document, both are required in functions of a response.
        flat = {"parameters": None, "strict": None, **function.model_dump(by_alias=True), "type": "function"}
        return cast("wire.FlatFunctionTool", flat)
    return cast("wire.HostedTool", tool.model_dump(by_alias=True))


def _tool_choice(choice: Any) -> Any:
    """Returns the choice as it was sent, with a nested function flattened."""
    if isinstance(choice, models.NamedToolChoice):
        return {"type": "function", "name": choice.function.name}
    return _plain(choice) or "auto"


def _text(settings: models.ResponseTextParam | None) -> wire.ResponseText:
    format: wire.EchoedTextFormat = {"type": "text"}
    if settings is None:
        return {"format": format, "verbosity": "medium"}
    return {"format": _plain(settings.format) or format, "verbosity": or_none(settings.verbosity) or "medium"}


def _reasoning(settings: models.ReasoningSettings | None) -> wire.ResponseReasoning:
    return {
        "effort": or_none(settings.effort) if settings else None,
        "summary": or_none(settings.summary) or or_none(settings.generate_summary) if settings else None,
    }


def _or_default(value: bool | None | MISSING, name: str) -> bool:
    sent = or_none(value)
    return bool(_DEFAULTS[name]) if sent is None else sent


def _plain(value: Any) -> Any:
    """Returns a model as a dict with the keys that were sent; None if it is absent or null."""
    value = or_none(value)
    return value.model_dump(by_alias=True) if isinstance(value, BaseModel) else value
