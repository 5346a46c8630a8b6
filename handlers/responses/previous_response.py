"""What an input refers to in the store: the response that it continues, and single items."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.or_none import or_none
from specvino.handlers.responses import items
from specvino.handlers.responses.input import InputItem
from specvino.handlers.store import Link, ResponseStore, StoredItem, StoreUnavailable
from specvino.handlers.store.protocol import UNFINISHED


async def previous_items(body: models.CreateResponseRequest, store: ResponseStore, owner: str) -> list[InputItem]:
    """Returns the items of the owner's chain that the request continues. Raises ApiError."""
    id = or_none(body.previous_response_id)
    if not id:
        return []
    with store_errors():
        thread = await store.thread(id, owner)
    if thread is None:
        raise not_found(id, "previous_response_id")
    if thread.missing is not None:
        message = f"The response {id[:200]!r} continues {thread.missing[:200]!r}, which is not stored any more."
        raise ApiError(ErrorCode.RESPONSE_NOT_FOUND, message, param="previous_response_id")
    if thread.links[-1].response["status"] in UNFINISHED:
        message = f"The response {id[:200]!r} is not finished, so it can't be continued yet."
        raise ApiError(ErrorCode.RESPONSE_NOT_FINISHED, message, param="previous_response_id")
    return items.read(flat(thread.links))


def flat(links: Iterable[Link]) -> list[StoredItem]:
    """Returns all items of a chain in their order."""
    return [item for link in links for item in (*link.input, *map(dict, link.response["output"]))]


async def resolved(input: Iterable[InputItem], store: ResponseStore, owner: str) -> list[InputItem]:
    """Returns an input with the owner's stored items in place of references to them; a reference to none stays.

    Raises ApiError.
    """
    listed = list(input)
    with store_errors():
        ids = [item.id for item in listed if isinstance(item, models.InputItemReference)]
        found = await store.items(ids, owner)
    return [
        items.read([found[item.id]])[0] if isinstance(item, models.InputItemReference) and item.id in found else item
        for item in listed
    ]


def not_found(id: str, param: str) -> ApiError:
    """Makes the error for a response that isn't stored."""
    return ApiError(ErrorCode.RESPONSE_NOT_FOUND, f"No response is stored under {id[:200]!r}.", param=param)


@contextmanager
def store_errors() -> Iterator[None]:
    """Makes an ApiError of a store's failure."""
    try:
        yield
    except StoreUnavailable as error:
        message = f"The store of responses can't be used: {error}."
        raise ApiError(ErrorCode.STORE_UNAVAILABLE, message, retry_after=1) from error
