"""What a request tells the model's chat template, beside the conversation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specvino.engine.output_parsers.selection import thinking_variables
from specvino.engine.protocol import ModelInfo
from specvino.engine.segments import Hidden


@dataclass(frozen=True, slots=True)
class TemplateFields:
    """The fields of a request that say how a conversation becomes a prompt; `effort_param` is where the reasoning
    effort stands.

    With `token_ids` the prompt is these, and with `disable_chat_template` the text of the first message. `hidden` are
    the fields that a chat template may not show.
    """

    chat_template_kwargs: Mapping[str, Any] | None = None
    effort: str | None = None
    effort_param: str = "reasoning_effort"
    chat_template: str | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool = False
    add_special_tokens: bool = False
    disable_chat_template: bool = False
    token_ids: tuple[int, ...] | None = None
    hidden: Mapping[Hidden, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TemplateVariables:
    """The variables as the JSON text of an object, and the fields that the template doesn't heed."""

    json: str = "{}"
    unsupported: tuple[str, ...] = ()


def template_variables(fields: TemplateFields, model: ModelInfo) -> TemplateVariables:
    """Returns the request's own variables, and those that its reasoning effort sets."""
    values = dict(fields.chat_template_kwargs or {})
    if values.get("add_generation_prompt", True) is None:
        del values["add_generation_prompt"]
    if fields.add_generation_prompt is not None:
        values["add_generation_prompt"] = fields.add_generation_prompt
    reasoning = _reasoning(fields.effort)
    heeds = thinking_variables(fields.chat_template) if fields.chat_template else model.thinking_variables
    heeded = not reasoning or bool(reasoning.keys() & heeds)
    return TemplateVariables(json.dumps(reasoning | values), () if heeded else (fields.effort_param,))


def _reasoning(effort: str | None) -> dict[str, Any]:
    if effort is None:
        return {}
    if effort == "none":
        return {"enable_thinking": False}
    return {"enable_thinking": True, "reasoning_effort": effort}
