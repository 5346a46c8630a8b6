"""The operations on stored responses: retrieve, delete, cancel, and list input items."""

import asyncio
from collections.abc import AsyncGenerator

import msgspec

from specvino.generated import wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import ListInputItemsOrder, Reply, RequestContext
from specvino.handlers.errors import ApiError, reported
from specvino.handlers.responses.background import Background
from specvino.handlers.responses.emit import cut
from specvino.handlers.responses.persistence import encode, item_list, not_found, store_errors
from specvino.handlers.store import UNFINISHED, Record, ResponseStore

# Seconds between reads of a response that another server is generating.
LOOK = 1.0


class StoredResponses:
    """GET, DELETE and the other operations below /responses/{response_id}."""

    def __init__(self, store: ResponseStore, background: Background) -> None:
        self._store = store
        self._background = background

    async def retrieve_response(
        self,
        context: RequestContext,
        response_id: str,
        stream: bool,
        starting_after: int | None,
        include_obfuscation: bool,
        include: list[str] | None,
    ) -> Reply[wire.ResponseObject | AsyncGenerator[wire.ResponseStreamEvent]]:
        running = self._background.get(response_id, context.owner)
        if stream:
            start = 0 if starting_after is None else starting_after + 1
            if running:
                return Reply(running.events(start))
            await self._required(context, response_id)
            return Reply(self._replayed(context, response_id, start))
        unsupported = reported(context, () if starting_after is None else ("starting_after",))
        return Reply(running.response if running else await self._required(context, response_id), unsupported)

    async def delete_response(self, context: RequestContext, response_id: str) -> Reply[wire.ResponseDeletion]:
        with store_errors():
            if not await self._store.delete(response_id, context.owner):
                raise not_found(response_id)
        if running := self._background.get(response_id, context.owner):
            await self._background.cancel(running)
        return Reply({"id": response_id, "object": "response", "deleted": True})

    async def cancel_response(self, context: RequestContext, response_id: str) -> Reply[wire.ResponseObject]:
        if running := self._background.get(response_id, context.owner):
            await self._background.cancel(running)
            return Reply(running.response)
        response = await self._required(context, response_id)
        if not response["background"]:
            message = f"The response {response_id[:200]!r} was not made in the background, so it can't be cancelled."
            raise ApiError(ErrorCode.RESPONSE_NOT_CANCELLABLE, message, param="response_id")
        if response["status"] in UNFINISHED:  # the server that generates it detects this and ends it
            with store_errors():
                lines = await self._store.events(response_id, context.owner) or []
                last = cut(response, "cancelled", len(lines))
                await self._store.finish(Record(last["response"], (), [*lines, encode(last)]))
            return Reply(await self._required(context, response_id))
        return Reply(response)

    async def list_input_items(
        self,
        context: RequestContext,
        response_id: str,
        after: str | None,
        limit: int,
        order: ListInputItemsOrder,
        include: list[str] | None,
    ) -> Reply[wire.ResponseItemList]:
        try:
            with store_errors():
                page = await self._store.input_page(
                    response_id, context.owner, after, limit, newest_first=order == "desc"
                )
        except LookupError:
            message = f"The response {response_id[:200]!r} has no item {after[:200] if after else ''!r}."
            raise ApiError(ErrorCode.ITEM_NOT_FOUND, message, param="after") from None
        if page is None:
            raise not_found(response_id)
        return Reply(item_list(page.items, has_more=page.has_more))

    async def _required(self, context: RequestContext, id: str) -> wire.ResponseObject:
        with store_errors():
            response = await self._store.response(id, context.owner)
        if response is None:
            raise not_found(id)
        return response

    async def _replayed(self, context: RequestContext, id: str, start: int) -> AsyncGenerator[wire.ResponseStreamEvent]:
        """Yields the stored events from number `start` on, while another server generates the response and stores
        more.
        """
        unfinished = True
        while unfinished:
            unfinished = (await self._required(context, id))["status"] in UNFINISHED
            with store_errors():
                lines = await self._store.events(id, context.owner) or []
            for line in lines[start:]:
                yield msgspec.json.decode(line)
            start = max(start, len(lines))
            if unfinished:
                await asyncio.sleep(LOOK)
