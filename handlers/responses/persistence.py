"""Stores responses during generation, and converts a store's errors for clients."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Final, cast

import msgspec

from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.store import Link, Record, ResponseStore, StoredItem, StoreUnavailable, TooLarge

Events = AsyncGenerator[wire.ResponseStreamEvent]

# The events with which a response ends; each of them contains the whole response.
# `Final` keeps the names in the type, so that mypy knows which events they select.
LAST: Final = ("response.completed", "response.incomplete", "response.failed")

logger = logging.getLogger("specvino.store")

encode = msgspec.json.encode


class Persistence:
    """Stores responses while their events are sent. If the store fails, the reason is logged."""

    def __init__(self, store: ResponseStore) -> None:
        self._store = store
        self._storing: set[asyncio.Task[bool]] = set()

    async def close(self) -> None:
        """Waits until all responses are stored."""
        await asyncio.gather(*self._storing)

    async def persisted(
        self,
        events: Events,
        input: Sequence[StoredItem],
        owner: str,
        leave: Callable[[], Iterable[Any]] | None = None,
    ) -> Events:
        """Yields the events of an owner's response, and stores the response before it yields the last one.

        If the store fails, the client still receives the answer, with `store` false. If the client leaves, a response
        ends with the events that `leave` returns, and is stored: the client knows its id from the first event.
        """
        lines: list[bytes] = []
        ended = False
        try:
            async with aclosing(events):
                async for event in events:
                    lines.append(encode(event))
                    if event["type"] in LAST:
                        ended = True
                        response = event["response"]
                        if not await asyncio.shield(self._add(Record(response, input, lines, owner))):
                            event["response"] = {**response, "store": False}
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            if lines and leave and not ended:
                *rest, last = leave()
                self._add(Record(last["response"], input, [*lines, *map(encode, rest), encode(last)], owner))
            raise

    async def conversing(self, events: Events, id: str, input: Sequence[StoredItem], owner: str) -> Events:
        """Yields the events of a response in an owner's conversation. Its input and output are added to the
        conversation before the last event. If that fails, the response has `conversation` null."""
        async with aclosing(events):
            async for event in events:
                if event["type"] in ("response.completed", "response.incomplete"):
                    response = event["response"]
                    items = [*input, *map(dict, response["output"])]
                    if not await asyncio.shield(self._in_task(self._added(id, items, owner))):
                        event["response"] = {**response, "conversation": None}
                yield event

    def _add(self, record: Record) -> asyncio.Task[bool]:
        return self._in_task(self._stored(record))

    def _in_task(self, storing: Coroutine[Any, Any, bool]) -> asyncio.Task[bool]:
        """Stores in a task of its own, as the client's may be cancelled at any await; its result is whether that was
        possible."""
        task = asyncio.create_task(storing)
        self._storing.add(task)
        task.add_done_callback(self._storing.discard)
        return task

    async def _added(self, id: str, items: Sequence[StoredItem], owner: str) -> bool:
        try:
            return await self._store.conversations.add(id, items, owner) is not None
        except StoreUnavailable as error:
            logger.warning("a response could not be added to the conversation %s: %s", id, error)
            return False

    async def _stored(self, record: Record) -> bool:
        try:
            await self._store.add(record)
        except StoreUnavailable as error:
            logger.warning("the response %s could not be stored: %s", record.response["id"], error)
            return False
        return True


def flat(links: Iterable[Link]) -> list[StoredItem]:
    """Returns all items of a chain of responses in their order."""
    return [item for link in links for item in (*link.input, *map(dict, link.response["output"]))]


def item_list(items: Sequence[StoredItem], *, has_more: bool) -> wire.ResponseItemList:
    """Returns a page of items."""
    return {
        "object": "list",
        "data": cast("list[wire.StoredItem]", items),
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
        "has_more": has_more,
    }


def not_found(id: str) -> ApiError:
    """Returns the error for a response that isn't stored."""
    return ApiError(ErrorCode.RESPONSE_NOT_FOUND, f"No response is stored under {id[:200]!r}.", param="response_id")


@contextmanager
def store_errors(param: str | None = None) -> Iterator[None]:
    """Converts a failure of the store to an ApiError; `param` is the field that refers to what is stored."""
    try:
        yield
    except TooLarge as error:
        raise ApiError(ErrorCode.STORED_ITEMS_TOO_LARGE, f"{param}: {error}.", param=param) from error
    except StoreUnavailable as error:
        message = f"The store of responses is unavailable: {error}. Retry later."
        raise ApiError(ErrorCode.STORE_UNAVAILABLE, message, retry_after=1) from error
