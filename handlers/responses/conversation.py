"""The conversation of a response: what it continues, and its own input with referenced items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specvino.engine.request import Message
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError
from specvino.handlers.fields import or_none
from specvino.handlers.media import MessageDraft
from specvino.handlers.responses.compaction import OpenedConversation, opened
from specvino.handlers.responses.encrypted_reasoning import decrypted
from specvino.handlers.responses.persistence import flat, store_errors
from specvino.handlers.responses.request import InputItem, conversation_of, read, stored, to_messages
from specvino.handlers.responses.session import Session
from specvino.handlers.store import UNFINISHED, Link, ResponseStore, StoredItem


@dataclass(frozen=True, slots=True)
class ResponseConversation:
    """The conversation of a response, `opened`. In their stored form, `own` is its input, and `previous` are the items
    that it continues."""

    opened: OpenedConversation
    own: Sequence[StoredItem]
    previous: Sequence[StoredItem]


async def read_conversation(
    body: models.CreateResponseRequest,
    store: ResponseStore,
    cipher: Cipher,
    owner: str,
    session: Session | None = None,
) -> ResponseConversation:
    """Returns the conversation that a request of `owner`, in a session, continues or starts. Raises ApiError."""
    own: str | list[InputItem] = body.input if isinstance(body.input, str) else []
    input: str | list[InputItem] = own
    if not isinstance(body.input, str):
        own = await resolved(body.input, "input", store, owner)
        input = [decrypted(item, f"input.{index}.encrypted_content", cipher) for index, item in enumerate(own)]
    id = conversation_of(body)
    previous = await (_items_of(id, store, owner) if id else _previous_items(body, store, owner, session))
    continued = "conversation" if id else "previous_response_id"
    earlier = [_readable(item, continued, cipher) for item in read(previous)]
    return ResponseConversation(opened(earlier, input, cipher, continued), stored(own), previous)


def _readable(item: InputItem, param: str, cipher: Cipher) -> InputItem:
    """Returns a stored item, with its reasoning decrypted if it isn't stored in clear. Raises ApiError."""
    content = or_none(item.content) if isinstance(item, models.InputReasoning) else None
    return item if content else decrypted(item, param, cipher)


def to_conversation(
    body: models.CreateResponseRequest,
    conversation: OpenedConversation,
    *,
    vision: bool = False,
    required: bool = True,
) -> tuple[MessageDraft, ...]:
    """Returns the instructions, the earlier items, and the input, as messages. Raises ApiError, also if one message is
    `required` beside the instructions and there is none.
    """
    earlier = to_messages(conversation.earlier, conversation.continued, vision=vision)
    messages = [*earlier, *to_messages(conversation.input, vision=vision)]
    if not messages and required:
        message = (
            "input has no item that the model can read; it reads messages, calls and their outputs, and reasoning."
        )
        raise ApiError(ErrorCode.EMPTY_PROMPT, message, param="input")
    instructions = or_none(body.instructions)
    head = (MessageDraft(Message("system", instructions)),) if instructions else ()
    return (*head, *messages) if messages else ()


async def resolved(items: Sequence[InputItem], param: str, store: ResponseStore, owner: str) -> list[InputItem]:
    """Returns the items of the field `param`, with references replaced by the owner's stored items. Raises ApiError."""
    with store_errors(param):
        by_id = await store.items([item.id for item in items if isinstance(item, models.InputItemReference)], owner)
    return [_resolved(item, f"{param}.{index}", by_id) for index, item in enumerate(items)]


def _resolved(item: InputItem, param: str, by_id: Mapping[str, StoredItem]) -> InputItem:
    """Returns the item to which a reference in the field `param` refers; other items as they are."""
    if not isinstance(item, models.InputItemReference):
        return item
    if item.id not in by_id:
        message = f"{param} refers to {item.id[:200]!r}, but no item is stored under this id."
        raise ApiError(ErrorCode.ITEM_NOT_FOUND, message, param=f"{param}.id")
    (resolved,) = read([by_id[item.id]])
    return resolved


async def _previous_items(
    body: models.CreateResponseRequest, store: ResponseStore, owner: str, session: Session | None
) -> Sequence[StoredItem]:
    """Returns the items of the owner's responses that the request continues. Raises ApiError."""
    id = or_none(body.previous_response_id)
    if not id:
        return []
    if session and (remembered := session.items(id)) is not None:
        return remembered
    with store_errors("previous_response_id"):
        thread = await store.thread(id, owner)
    if thread is None:
        raise _not_found(f"No response is stored under {id[:200]!r}.")
    if thread.missing is not None:
        raise _not_found(f"The response {id[:200]!r} continues {thread.missing[:200]!r}, which is no longer stored.")
    _require_chained(thread.links[-1])
    if thread.links[-1].response["status"] in UNFINISHED:
        message = f"The response {id[:200]!r} is not finished, so it can't be continued yet."
        raise ApiError(ErrorCode.RESPONSE_NOT_FINISHED, message, param="previous_response_id")
    return flat(thread.links)


async def _items_of(id: str, store: ResponseStore, owner: str) -> Sequence[StoredItem]:
    """Returns the items of the owner's conversation. Raises ApiError."""
    with store_errors("conversation"):
        items = await store.conversations.items(id, owner)
    if items is None:
        raise conversation_not_found(id, "conversation")
    return items


def _require_chained(link: Link) -> None:
    """Raises ApiError for a response that was made in a conversation: its context isn't that of a chain."""
    if conversation := link.response.get("conversation"):
        message = (
            f"The response {link.response['id']!r} was made in the conversation {conversation['id']!r}: "
            "continue that by the field conversation."
        )
        raise ApiError(ErrorCode.RESPONSE_IN_CONVERSATION, message, param="previous_response_id")


def conversation_not_found(id: str, param: str = "conversation_id") -> ApiError:
    """Returns the error for a conversation that isn't stored."""
    return ApiError(ErrorCode.CONVERSATION_NOT_FOUND, f"No conversation is stored under {id[:200]!r}.", param=param)


def _not_found(message: str) -> ApiError:
    return ApiError(ErrorCode.PREVIOUS_RESPONSE_NOT_FOUND, message, param="previous_response_id")
