"""Background responses, which are generated without a waiting client."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Any

import msgspec

from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.emit import ResponseEmitter
from specvino.handlers.responses.persistence import LAST, Events, encode
from specvino.handlers.store import Record, ResponseStore, StoredItem, StoreUnavailable

# Seconds between attempts to store a finished response in a store that fails.
RETRY = 5.0

# Seconds between updates of a response in the store, for other servers.
SHOWN = 1.0

# How long (seconds) a server waits during shutdown for responses to be stored.
CLOSING = 5.0

logger = logging.getLogger("specvino.store")


class BackgroundResponse:
    """A response in progress: its current state, and its events so far."""

    def __init__(self, first: wire.ResponseStreamEvent, input: Sequence[StoredItem], owner: str) -> None:
        self.response: wire.ResponseObject
        self.input = input
        self.owner = owner
        self.lines: list[bytes] = []
        self.ended = asyncio.Event()
        self.ending = False
        self.cancelled = False
        self.task: asyncio.Task[None] | None = None
        self.sharing: asyncio.Task[None] | None = None
        self._more = asyncio.Event()
        self.add(first)

    def add(self, event: Any) -> None:
        """Adds an event, and wakes the streams that follow the response."""
        if "response" in event:
            self.response = event["response"]
        elif event["type"] == "response.output_item.done":
            self.response = {**self.response, "output": [*self.response["output"], event["item"]]}
        self.lines.append(encode(event))
        self._more.set()
        self._more = asyncio.Event()

    def end(self, event: Any) -> None:
        """Adds the last event, once."""
        if not self.ended.is_set():
            self.ended.set()
            self.add(event)

    async def events(self, start: int) -> Events:
        """Yields the events from number `start` to the last one."""
        while True:
            while start < len(self.lines):
                yield msgspec.json.decode(self.lines[start])
                start += 1
            if self.ended.is_set():
                return
            await self._more.wait()


class Background:
    """All background responses in progress."""

    def __init__(self, store: ResponseStore) -> None:
        self._store = store
        self._running: dict[str, BackgroundResponse] = {}

    def __len__(self) -> int:
        return len(self._running)

    def get(self, id: str, owner: str) -> BackgroundResponse | None:
        """Returns the owner's response with this id while it is in progress."""
        running = self._running.get(id)
        return running if running and running.owner == owner else None

    async def start(
        self, events: Events, emitter: ResponseEmitter, input: Sequence[StoredItem], owner: str
    ) -> BackgroundResponse:
        """Starts a response whose first event comes from `events`.

        Raises what `events` raises, and StoreUnavailable: a response that clients couldn't retrieve isn't started.
        """
        try:
            first = await anext(events)
            running = BackgroundResponse(first, input, owner)
            await self._store.add(Record(running.response, input, running.lines, owner))
        except BaseException:
            await events.aclose()
            raise
        self._running[running.response["id"]] = running
        running.task = asyncio.create_task(self._run(running, events, emitter))
        running.sharing = asyncio.create_task(self._share(running))
        return running

    async def cancel(self, running: BackgroundResponse) -> None:
        """Cancels a response; returns when it has ended."""
        if not running.ending and running.task:
            running.cancelled = True
            running.task.cancel()
        await running.ended.wait()

    async def close(self) -> None:
        """Ends all responses as failed."""
        responses = list(self._running.values())
        for response in responses:
            if response.task and not response.ending:
                response.task.cancel()
        if tasks := [response.task for response in responses if response.task]:
            _, late = await asyncio.wait(tasks, timeout=CLOSING)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _run(self, running: BackgroundResponse, events: Events, emitter: ResponseEmitter) -> None:
        last: Any = None
        try:
            async with aclosing(events):
                async for event in events:
                    if event["type"] in LAST:
                        last = event  # added once the response is stored
                    else:
                        running.add(event)
        except ApiError as error:
            last = emitter.fail(error)
        except asyncio.CancelledError:
            message = "The server stopped while it was generating this response."
            stopped = ApiError(ErrorCode.ENGINE_UNAVAILABLE, message)
            last = emitter.cancel() if running.cancelled else emitter.fail(stopped)
        except Exception:
            logger.exception("the response %s failed in the background", running.response["id"])
            last = emitter.fail(ApiError(ErrorCode.INTERNAL_ERROR, "The server failed to generate this response."))
        await self._end(running, last)

    async def _share(self, running: BackgroundResponse) -> None:
        """Stores the progress of a response for other servers, and ends it if one of them cancelled or deleted it."""
        while not running.ending:
            await asyncio.sleep(SHOWN)
            record = Record(running.response, running.input, [*running.lines], running.owner)
            with suppress(StoreUnavailable):  # logged when the response ends
                if not await self._store.update(record) and running.task and not running.ending:
                    running.cancelled = True
                    running.task.cancel()

    async def _end(self, running: BackgroundResponse, last: Any) -> None:
        """Stores a response and adds its last event. If the store fails, the response stays in memory and storing it is
        tried again."""
        running.ending = True
        response = last["response"]
        record = Record(response, running.input, [*running.lines, encode(last)])
        try:
            if running.sharing:
                running.sharing.cancel()
                await asyncio.gather(running.sharing, return_exceptions=True)
            while True:
                try:
                    await self._store.finish(record)
                    return
                except StoreUnavailable as error:
                    logger.warning("the response %s could not be stored yet: %s", response["id"], error)
                    running.end(last)
                    await asyncio.sleep(RETRY)
        finally:
            running.end(last)
            del self._running[response["id"]]
