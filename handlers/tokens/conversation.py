"""A conversation that is to be tokenized, as the engine has it."""

from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Conversation, Message, Tool, ToolCall
from specvino.generated import models
from specvino.handlers.or_none import or_none
from specvino.handlers.template import TemplateFields, template_variables


def conversation(body: models.TokenizeRequest, model: ModelInfo) -> Conversation:
    """Returns the messages with what the chat template gets beside them. Raises ApiError."""
    template = or_none(body.chat_template)
    fields = TemplateFields(
        or_none(body.chat_template_kwargs),
        chat_template=template,
        add_generation_prompt=or_none(body.add_generation_prompt),
    )
    return Conversation(
        tuple(_message(each) for each in or_none(body.messages) or ()),
        tuple(_tool(each.function) for each in or_none(body.tools) or ()),
        template_variables(fields, model).json,
        template,
        or_none(body.add_special_tokens) or False,
        or_none(body.continue_final_message) or False,
    )


def _message(message: models.TokenizedMessage) -> Message:
    content = message.content
    parts = content if isinstance(content, list) else ()
    calls = enumerate(or_none(message.tool_calls) or ())
    return Message(
        role="tool" if message.role == "function" else message.role,
        content=content if isinstance(content, str) else "".join(part.text for part in parts),
        name=or_none(message.name),
        tool_calls=tuple(_call(or_none(each.id) or f"call_{index}", each.function) for index, each in calls),
        tool_call_id=or_none(message.tool_call_id),
        reasoning=or_none(message.reasoning_content) or or_none(message.reasoning),
    )


def _call(id: str, function: models.TokenizedCalledFunction) -> ToolCall:
    return ToolCall(id, function.name, or_none(function.arguments) or "{}")


def _tool(function: models.TokenizedFunction) -> Tool:
    return Tool(function.name, or_none(function.description), or_none(function.parameters))
