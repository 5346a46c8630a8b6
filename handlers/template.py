"""The inputs of the model's chat template: variables of the request, and the conversation."""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from specvino.engine.output_parsers.selection import thinking_variables
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Conversation, Message, Tool
from specvino.handlers.or_none import value_at, value_of

# The field is in an object on some endpoints.
_EFFORTS = ("reasoning_effort", "reasoning.effort")


@dataclass(frozen=True, slots=True)
class TemplateVariables:
    """The variables as the JSON text of an object, and the fields that the template doesn't use."""

    json: str = "{}"
    unsupported: tuple[str, ...] = ()


def template_variables(body: BaseModel, model: ModelInfo) -> TemplateVariables:
    """Returns the request's own variables, and those for its reasoning effort."""
    values = dict(value_of(body, "chat_template_kwargs") or {})
    if values.get("add_generation_prompt", True) is None:
        del values["add_generation_prompt"]
    add_generation_prompt = value_of(body, "add_generation_prompt")
    if add_generation_prompt is not None:
        values["add_generation_prompt"] = add_generation_prompt
    param = next((name for name in _EFFORTS if value_at(body, name) is not None), None)
    if param is None:
        return TemplateVariables(json.dumps(values))
    reasoning = _reasoning(value_at(body, param))
    template = value_of(body, "chat_template")
    used = thinking_variables(template) if template else model.thinking_variables
    return TemplateVariables(json.dumps(reasoning | values), () if reasoning.keys() & used else (param,))


def conversation(
    body: BaseModel, messages: tuple[Message, ...], tools: tuple[Tool, ...], variables: TemplateVariables
) -> Conversation:
    """Returns the conversation for the engine. A body may contain token ids instead of messages, or request the
    unrendered text of its first message as the prompt.
    """
    rendered: str | tuple[int, ...] | None
    rendered = tuple(value_of(body, "prompt_token_ids") or value_of(body, "input_ids") or ()) or None
    if rendered is None and value_of(body, "disable_chat_template"):
        rendered = messages[0].content
    return Conversation(
        messages,
        tools,
        variables.json,
        value_of(body, "chat_template"),
        value_of(body, "add_special_tokens") or False,
        value_of(body, "continue_final_message") or False,
        rendered,
    )


def _reasoning(effort: str) -> dict[str, Any]:
    if effort == "none":
        return {"enable_thinking": False}
    return {"enable_thinking": True, "reasoning_effort": effort}
