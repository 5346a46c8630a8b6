"""A response request's body -> what the engine is asked."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from specvino.engine.request import Conversation, GenerationRequest, Image, Message
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.forms import Form
from specvino.handlers.given import given
from specvino.handlers.media import ImageSource
from specvino.handlers.responses import input
from specvino.handlers.responses.input import Item
from specvino.handlers.sampling import sampling

# Where the items that an input continues come from.
_EARLIER = "previous_response_id"


def image_sources(body: models.CreateResponseRequest, earlier: Iterable[Item]) -> Iterator[ImageSource]:
    """Where the images of the conversation are."""
    yield from input.image_sources(earlier, _EARLIER)
    yield from input.image_sources(body.input)


def to_generation_request(
    body: models.CreateResponseRequest,
    model: Mapping[str, float | int],
    earlier: Iterable[Item] = (),
    images: Mapping[str, Image] = MappingProxyType({}),
    form: Form | None = None,
) -> GenerationRequest:
    """`model` holds the settings of the model's generation_config.json, `earlier` what the input continues, `images`
    those of the conversation by the paths of their parts: one that isn't there can't be read. Raises ApiError.
    """
    _require_no_penalty_in_search(body)
    messages = [*input.to_messages(earlier, images, _EARLIER), *input.to_messages(body.input, images)]
    if not messages:
        message = (
            "input has no item that the model could read; it reads messages, function calls and outputs, reasoning."
        )
        raise ApiError(ErrorCode.INVALID_PROMPT, message, param="input")
    if instructions := given(body.instructions):
        messages.insert(0, Message("system", instructions))
    return GenerationRequest(
        prompts=(Conversation(tuple(messages)),),
        sampling=sampling(body, given(body.max_output_tokens), model),
        logprobs=_wants_logprobs(body),
        constraint=form.constraint if form else None,
    )


def _wants_logprobs(body: models.CreateResponseRequest) -> bool:
    included = "message.output_text.logprobs" in (given(body.include) or ())
    return included or bool(given(body.logprobs)) or bool(given(body.top_logprobs))


def _require_no_penalty_in_search(body: models.CreateResponseRequest) -> None:
    penalties = (given(body.frequency_penalty) or 0, given(body.presence_penalty) or 0)
    repetition = given(body.repetition_penalty)
    if (given(body.best_of) or 1) > 1 and (any(penalties) or repetition not in (None, 1)):
        message = (
            "best_of above 1 is a beam search, which takes no penalties: frequency_penalty and presence_penalty must "
            "be 0, repetition_penalty 1."
        )
        raise ApiError(ErrorCode.INVALID_VALUE, message, param="best_of")
