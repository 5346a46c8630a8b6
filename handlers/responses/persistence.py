"""Stores responses during generation, and converts a store's errors for clients."""

import logging
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager

import msgspec

from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.store import Link, Record, ResponseStore, StoredItem, StoreUnavailable

Events = AsyncGenerator[wire.ResponseStreamEvent]

# The events with which a response ends; each of them contains the whole response.
LAST = ("response.completed", "response.incomplete", "response.failed")

logger = logging.getLogger("specvino.store")

encode = msgspec.json.encode


async def persisted(events: Events, input: Sequence[StoredItem], store: ResponseStore, owner: str) -> Events:
    """Yields the events of an owner's response, and stores the response before it yields the last one.

    If the store fails, the client still receives the answer, with `store` false, and the reason is logged.
    """
    lines: list[bytes] = []
    async with aclosing(events):
        async for event in events:
            lines.append(encode(event))
            if event["type"] in LAST:
                response = event["response"]  # type: ignore[typeddict-item]
                try:
                    await store.add(Record(response, input, lines, owner))
                except StoreUnavailable as error:
                    logger.warning("the response %s could not be stored: %s", response["id"], error)
                    event["response"] = {**response, "store": False}  # type: ignore[typeddict-unknown-key]
            yield event


def flat(links: Iterable[Link]) -> list[StoredItem]:
    """Returns all items of a chain of responses in their order."""
    return [item for link in links for item in (*link.input, *map(dict, link.response["output"]))]


def not_found(id: str, param: str) -> ApiError:
    """Returns the error for a response that isn't stored."""
    return ApiError(ErrorCode.RESPONSE_NOT_FOUND, f"No response is stored under {id[:200]!r}.", param=param)


@contextmanager
def store_errors() -> Iterator[None]:
    """Converts a failure of the store to an ApiError."""
    try:
        yield
    except StoreUnavailable as error:
        message = f"The store of responses is unavailable: {error}. Retry later."
        raise ApiError(ErrorCode.STORE_UNAVAILABLE, message, retry_after=1) from error
