"""A chat request's body -> what the engine is asked."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from pydantic import MISSING

from specvino.engine.request import Conversation, GenerationRequest, Image, Message, PlacedImage, ToolCall
from specvino.generated import models
from specvino.handlers.forms import Form
from specvino.handlers.given import given
from specvino.handlers.media import ImageSource, place, source
from specvino.handlers.refusals import unsupported_content
from specvino.handlers.sampling import sampling

AnyMessage = (
    models.DeveloperMessage
    | models.SystemMessage
    | models.UserMessage
    | models.AssistantMessage
    | models.ToolMessage
    | models.FunctionMessage
)
Part = models.TextPart | models.RefusalPart | models.ImagePart | models.AudioPart | models.FilePart


def image_sources(body: models.CreateChatCompletionRequest) -> Iterator[ImageSource]:
    """Where the images of the conversation are."""
    for index, message in enumerate(body.messages):
        for number, part in enumerate(message.content if isinstance(message.content, list) else ()):
            if isinstance(part, models.ImagePart):
                yield source(f"messages.{index}.content.{number}", part.image_url)


def to_generation_request(
    body: models.CreateChatCompletionRequest,
    model: Mapping[str, float | int],
    images: Mapping[str, Image] = MappingProxyType({}),
    form: Form | None = None,
) -> GenerationRequest:
    """`model` holds the settings of the model's generation_config.json, `images` those of the conversation by the paths
    of their parts: one that isn't there can't be read. Raises ApiError.
    """
    messages = (_message(message, f"messages.{index}", images) for index, message in enumerate(body.messages))
    max_tokens = given(body.max_completion_tokens) or given(body.max_tokens)
    return GenerationRequest(
        prompts=(Conversation(tuple(messages)),),
        sampling=sampling(body, max_tokens, model),
        n=given(body.n) or 1,
        logprobs=wants_logprobs(body),
        constraint=form.constraint if form else None,
    )


def wants_logprobs(body: models.CreateChatCompletionRequest) -> bool:
    wanted = given(body.logprobs)
    return bool(given(body.top_logprobs)) if wanted is None else wanted


def _message(message: AnyMessage, param: str, images: Mapping[str, Image]) -> Message:
    assistant = message if isinstance(message, models.AssistantMessage) else None
    text, placed = _content(message.content, f"{param}.content", images)
    return Message(
        role="tool" if message.role == "function" else message.role,
        content=text,
        name=given(message.name),
        reasoning=given(assistant.reasoning_content) or given(assistant.reasoning) if assistant else None,
        tool_calls=tuple(_calls(assistant)) if assistant else (),
        tool_call_id=given(message.tool_call_id) if isinstance(message, models.ToolMessage) else None,
        images=placed,
    )


def _content(
    content: str
    | list[models.TextPart]
    | list[models.TextPart | models.RefusalPart]
    | list[models.TextPart | models.ImagePart | models.AudioPart | models.FilePart]
    | None
    | MISSING,
    param: str,
    images: Mapping[str, Image],
) -> tuple[str, tuple[PlacedImage, ...]]:
    if isinstance(content, list):
        return place(_part(part, f"{param}.{index}", images) for index, part in enumerate(content))
    return (content if isinstance(content, str) else ""), ()


def _part(part: Part, param: str, images: Mapping[str, Image]) -> str | Image:
    match part:
        case models.TextPart():
            return part.text
        case models.RefusalPart():
            return part.refusal
        case models.ImagePart() if param in images:
            return images[param]
        case _:
            raise unsupported_content(part.type, param)


def _calls(message: models.AssistantMessage) -> Iterator[ToolCall]:
    """The calls of functions; those of custom tools have no place in chat templates."""
    for index, call in enumerate(given(message.tool_calls) or ()):
        if isinstance(call, models.MessageFunctionToolCall):
            yield _call(given(call.id) or f"call_{index}", call.function)
    if former := given(message.function_call):
        yield _call("call_0", former)


def _call(id: str, function: models.MessageFunctionCall | models.LegacyFunctionCall) -> ToolCall:
    return ToolCall(id=id, name=function.name, arguments=given(function.arguments) or "{}")
