"""What a request tells the model's chat template, beside the conversation."""

import json
from collections.abc import Mapping
from typing import Any

from specvino.engine.protocol import ModelInfo
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import ApiError
from specvino.handlers.refusals import without_effect

# What every template gets anyhow.
_RESERVED = ("messages", "tools", "bos_token", "eos_token")

_PARAM = "chat_template_kwargs"


def variables(
    context: RequestContext, model: ModelInfo, given: Mapping[str, Any] | None, effort: str | None, param: str
) -> str:
    """The variables as JSON text: those `given`, and how much to think, as the field `param` says. Raises ApiError."""
    values = dict(given or {})
    for name in _RESERVED:
        if name in values:
            message = f"{_PARAM}.{name} can't be set: the template gets it from the server."
            raise ApiError(ErrorCode.INVALID_VALUE, message, param=f"{_PARAM}.{name}")
    prompt = values.get("add_generation_prompt", True)
    if prompt is None:
        del values["add_generation_prompt"]
    elif not isinstance(prompt, bool):
        name = f"{_PARAM}.add_generation_prompt"
        raise ApiError(ErrorCode.INVALID_TYPE, f"{name} must be true or false.", param=name)
    return json.dumps(_thinking(context, model, effort, param) | values)


def _thinking(context: RequestContext, model: ModelInfo, effort: str | None, param: str) -> dict[str, Any]:
    if effort is None:
        return {}
    told: dict[str, Any] = {"enable_thinking": False}
    if effort != "none":
        told = {"enable_thinking": True, "reasoning_effort": effort}
    if not told.keys() & model.thinking_variables:
        without_effect(context, param)
    return told
