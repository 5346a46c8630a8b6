"""What is stored of a response while it is made."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import msgspec

from specvino.generated import wire
from specvino.handlers.store import Record, ResponseStore, StoredItem, StoreUnavailable

Events = AsyncGenerator[wire.ResponseStreamEvent]

# The events with which a response ends; each of them holds the whole response.
LAST = ("response.completed", "response.incomplete", "response.failed")

logger = logging.getLogger("specvino.store")

encode = msgspec.json.encode


async def persisted(events: Events, input: Sequence[StoredItem], store: ResponseStore, owner: str) -> Events:
    """Yields the events of an owner's response, which is stored before its last one is shown.

    An answer is never lost to a store that fails: it then says itself that it isn't stored, and the log says why.
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
