"""A chat request's body -> what the engine is asked."""

from collections.abc import Mapping

from pydantic import MISSING

from specvino.engine.request import Conversation, GenerationRequest, Message, ToolCall
from specvino.generated import models
from specvino.handlers.given import given
from specvino.handlers.sampling import sampling


def to_generation_request(
    body: models.CreateChatCompletionRequest, model: Mapping[str, float | int]
) -> GenerationRequest:
    """`model` holds the settings of the model's generation_config.json."""
    return GenerationRequest(
        prompts=(Conversation(tuple(_message(message) for message in body.messages)),),
        sampling=sampling(body, model),
        n=given(body.n) or 1,
    )


def _message(
    message: models.DeveloperMessage
    | models.SystemMessage
    | models.UserMessage
    | models.AssistantMessage
    | models.ToolMessage
    | models.FunctionMessage,
) -> Message:
    return Message(
        role="tool" if message.role == "function" else message.role,
        content=_text(message.content),
        name=given(message.name),
        tool_calls=_tool_calls(message) if isinstance(message, models.AssistantMessage) else (),
        tool_call_id=given(message.tool_call_id) if isinstance(message, models.ToolMessage) else None,
    )


def _text(content: str | list[models.TextPart] | None | MISSING) -> str:
    if isinstance(content, list):
        return "\n".join(part.text for part in content)
    return content if isinstance(content, str) else ""


def _tool_calls(message: models.AssistantMessage) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            id=given(call.id) or f"call_{index}",
            name=call.function.name,
            arguments=given(call.function.arguments) or "{}",
        )
        for index, call in enumerate(given(message.tool_calls) or ())
    )
