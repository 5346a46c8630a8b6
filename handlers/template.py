"""The inputs of the model's chat template: variables of the request, and the conversation."""

import json
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from specvino.engine.output_parsers.selection import thinking_variables
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Conversation, Message, Tool
from specvino.handlers.fields import value_at, value_of

# The field is in an object on some endpoints. On the first two, it also decides whether the model reasons.
_EFFORTS = ("reasoning_effort", "reasoning.effort", "output_config.effort")


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
    reasoning = _reasoning(body)
    template = value_of(body, "chat_template")
    used = thinking_variables(template) if template else model.thinking_variables
    for variables in reasoning.values():
        values = variables | values
    unsupported = tuple(param for param, variables in reasoning.items() if not variables.keys() & used)
    return TemplateVariables(json.dumps(values), unsupported)


def conversation(
    body: BaseModel,
    messages: tuple[Message, ...],
    tools: tuple[Tool, ...],
    variables: TemplateVariables,
    *,
    continues: bool = False,
) -> Conversation:
    """Returns the conversation for the engine. A body may contain token ids instead of messages, or request the
    unrendered text of its first message as the prompt. With `continues` the answer continues the last message.
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
        value_of(body, "continue_final_message") or continues,
        rendered,
    )


def _reasoning(body: BaseModel) -> dict[str, dict[str, Any]]:
    """Returns the variables that the fields about reasoning set, by field."""
    variables: dict[str, dict[str, Any]] = {}
    if (kind := value_at(body, "thinking.type")) is not None:
        variables["thinking"] = {"enable_thinking": kind != "disabled"}
    match value_at(body, "think"):
        case None:
            pass
        case bool(thinks):
            variables["think"] = {"enable_thinking": thinks}
        case level:
            variables["think"] = {"enable_thinking": True, "reasoning_effort": level}
    for param in _EFFORTS:
        match value_at(body, param):
            case None:
                continue
            case "none":
                variables[param] = {"enable_thinking": False}
            case effort if param == "output_config.effort":
                variables[param] = {"reasoning_effort": effort}
            case effort:
                variables[param] = {"enable_thinking": True, "reasoning_effort": effort}
        break
    return variables
