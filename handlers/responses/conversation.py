"""The conversation of a response: the responses that it continues, and its own input with referenced items."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from specvino.engine.request import Message
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError, reported
from specvino.handlers.media import MessageDraft
from specvino.handlers.or_none import or_none
from specvino.handlers.responses.encrypted_reasoning import decrypted
from specvino.handlers.responses.persistence import flat, not_found, store_errors
from specvino.handlers.responses.request import InputItem, read, stored, to_messages
from specvino.handlers.store import UNFINISHED, ResponseStore, StoredItem


@dataclass(frozen=True, slots=True)
class ResponseConversation:
    """The conversation of a response: its `input`, and the `earlier` items that it continues. `own` is the input in its
    stored form; `unsupported` are references to items that aren't stored.
    """

    input: str | Sequence[InputItem]
    earlier: Sequence[InputItem]
    own: Sequence[StoredItem]
    unsupported: tuple[str, ...]


async def read_conversation(
    context: RequestContext, body: models.CreateResponseRequest, store: ResponseStore, cipher: Cipher
) -> ResponseConversation:
    """Returns the conversation that a request continues or starts. Raises ApiError."""
    input, dangling = await _input(body, store, cipher, context.owner)
    unsupported = reported(context, dangling)
    earlier = await _previous_items(body, store, context.owner)
    return ResponseConversation(input, earlier, stored(_kept(input)), unsupported)


def to_conversation(
    body: models.CreateResponseRequest,
    input: str | Sequence[InputItem],
    earlier: Sequence[InputItem] = (),
    *,
    vision: bool = False,
) -> tuple[MessageDraft, ...]:
    """Returns the instructions, the earlier items, and the input, as messages. Raises ApiError."""
    messages = [*to_messages(earlier, "previous_response_id", vision=vision), *to_messages(input, vision=vision)]
    if not messages:
        message = (
            "input has no item that the model can read; it reads messages, calls and their outputs, and reasoning."
        )
        raise ApiError(ErrorCode.INVALID_PROMPT, message, param="input")
    instructions = or_none(body.instructions)
    head = (MessageDraft(Message("system", instructions)),) if instructions else ()
    return (*head, *messages)


async def _input(
    body: models.CreateResponseRequest, store: ResponseStore, cipher: Cipher, owner: str
) -> tuple[str | Sequence[InputItem], tuple[str, ...]]:
    """Returns the input with references replaced by stored items and reasoning decrypted, and the references to items
    that aren't stored.
    """
    if isinstance(body.input, str):
        return body.input, ()
    clear = [decrypted(item, f"input.{index}", cipher) for index, item in enumerate(body.input)]
    input = await _resolved(clear, store, owner)
    dangling = (index for index, item in enumerate(input) if isinstance(item, models.InputItemReference))
    return input, tuple(f"input.{index}" for index in dangling)


async def _resolved(input: Iterable[InputItem], store: ResponseStore, owner: str) -> list[InputItem]:
    """Returns an input with references replaced by the owner's stored items. References to items that aren't stored
    stay.

    Raises ApiError.
    """
    items = list(input)
    with store_errors():
        ids = [item.id for item in items if isinstance(item, models.InputItemReference)]
        by_id = await store.items(ids, owner)
    return [
        read([by_id[item.id]])[0] if isinstance(item, models.InputItemReference) and item.id in by_id else item
        for item in items
    ]


async def _previous_items(body: models.CreateResponseRequest, store: ResponseStore, owner: str) -> list[InputItem]:
    """Returns the items of the owner's responses that the request continues. Raises ApiError."""
    id = or_none(body.previous_response_id)
    if not id:
        return []
    with store_errors():
        thread = await store.thread(id, owner)
    if thread is None:
        raise not_found(id, "previous_response_id")
    if thread.missing is not None:
        message = f"The response {id[:200]!r} continues {thread.missing[:200]!r}, which is no longer stored."
        raise ApiError(ErrorCode.RESPONSE_NOT_FOUND, message, param="previous_response_id")
    if thread.links[-1].response["status"] in UNFINISHED:
        message = f"The response {id[:200]!r} is not finished, so it can't be continued yet."
        raise ApiError(ErrorCode.RESPONSE_NOT_FINISHED, message, param="previous_response_id")
    return read(flat(thread.links))


def _kept(input: str | Sequence[InputItem]) -> str | Sequence[InputItem]:
    """Returns the stored part of an input: everything except references to items that aren't stored."""
    if isinstance(input, str):
        return input
    return [item for item in input if not isinstance(item, models.InputItemReference)]
