"""The conversation of a response: what it continues, and its own input with all that the input refers to."""

from collections.abc import Sequence
from dataclasses import dataclass

from specvino.engine.request import Message
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError
from specvino.handlers.media import MessageDraft
from specvino.handlers.or_none import or_none
from specvino.handlers.responses import items
from specvino.handlers.responses.encrypted_reasoning import decrypted
from specvino.handlers.responses.input import InputItem, to_messages
from specvino.handlers.responses.previous_response import previous_items, resolved
from specvino.handlers.store import ResponseStore, StoredItem
from specvino.handlers.unsupported import reported


@dataclass(frozen=True, slots=True)
class ResponseConversation:
    """`own` is the request's own input as it is stored; `unsupported` are its references that lead nowhere."""

    messages: tuple[MessageDraft, ...]
    own: Sequence[StoredItem]
    unsupported: tuple[str, ...]


async def read_conversation(
    context: RequestContext,
    body: models.CreateResponseRequest,
    store: ResponseStore,
    cipher: Cipher,
    *,
    vision: bool,
) -> ResponseConversation:
    """Returns the conversation that a request continues or begins.

    Without `vision` the model reads text alone. Raises ApiError.
    """
    input, dangling = await _input(body, store, cipher, context.owner)
    unsupported = reported(context, dangling)
    earlier = await previous_items(body, store, context.owner)
    return ResponseConversation(
        to_conversation(body, input, earlier, vision=vision), items.stored(_kept(input)), unsupported
    )


def to_conversation(
    body: models.CreateResponseRequest,
    input: str | Sequence[InputItem],
    earlier: Sequence[InputItem] = (),
    *,
    vision: bool = False,
) -> tuple[MessageDraft, ...]:
    """Returns the instructions, what the input continues, and the input. Raises ApiError."""
    messages = [*to_messages(earlier, "previous_response_id", vision=vision), *to_messages(input, vision=vision)]
    if not messages:
        message = (
            "input has no item that the model could read; it reads messages, function calls and outputs, reasoning."
        )
        raise ApiError(ErrorCode.INVALID_PROMPT, message, param="input")
    instructions = or_none(body.instructions)
    head = (MessageDraft(Message("system", instructions)),) if instructions else ()
    return (*head, *messages)


async def _input(
    body: models.CreateResponseRequest, store: ResponseStore, cipher: Cipher, owner: str
) -> tuple[str | Sequence[InputItem], tuple[str, ...]]:
    """Returns the input with what it refers to, its reasoning in clear, and the references that lead nowhere."""
    if isinstance(body.input, str):
        return body.input, ()
    clear = [decrypted(item, f"input.{index}", cipher) for index, item in enumerate(body.input)]
    input = await resolved(clear, store, owner)
    dangling = (index for index, item in enumerate(input) if isinstance(item, models.InputItemReference))
    return input, tuple(f"input.{index}" for index in dangling)


def _kept(input: str | Sequence[InputItem]) -> str | Sequence[InputItem]:
    """Returns what is stored of an input: all but the references that lead nowhere."""
    if isinstance(input, str):
        return input
    return [item for item in input if not isinstance(item, models.InputItemReference)]
