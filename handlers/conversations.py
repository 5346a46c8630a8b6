"""The operations on stored conversations and their items."""

from typing import Any, cast

from specvino.generated import models, wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import ListConversationItemsOrder, Reply, RequestContext
from specvino.handlers.errors import ApiError
from specvino.handlers.fields import or_none
from specvino.handlers.responses.conversation import conversation_not_found, resolved
from specvino.handlers.responses.persistence import item_list, store_errors
from specvino.handlers.responses.request import InputItem, stored
from specvino.handlers.store import Conversation, ResponseStore, StoredItem


class Conversations:
    """POST /conversations, and the operations below /conversations/{conversation_id}."""

    def __init__(self, store: ResponseStore) -> None:
        self._store = store

    async def create_conversation(
        self, context: RequestContext, body: models.CreateConversationRequest
    ) -> Reply[wire.Conversation]:
        self._require_store()
        items = await self._stored(context, or_none(body.items) or [])
        with store_errors():
            created = await self._store.conversations.create(items, or_none(body.metadata) or {}, context.owner)
        return Reply(_shown(created))

    async def retrieve_conversation(self, context: RequestContext, conversation_id: str) -> Reply[wire.Conversation]:
        return Reply(await self._required(context, conversation_id))

    async def update_conversation(
        self, context: RequestContext, conversation_id: str, body: models.UpdateConversationRequest
    ) -> Reply[wire.Conversation]:
        self._require_store()
        with store_errors():
            changed = await self._store.conversations.describe(
                conversation_id, or_none(body.metadata) or {}, context.owner
            )
        if changed is None:
            raise conversation_not_found(conversation_id)
        return Reply(_shown(changed))

    async def delete_conversation(
        self, context: RequestContext, conversation_id: str
    ) -> Reply[wire.ConversationDeletion]:
        self._require_store()
        with store_errors():
            if not await self._store.conversations.delete(conversation_id, context.owner):
                raise conversation_not_found(conversation_id)
        return Reply({"id": conversation_id, "object": "conversation.deleted", "deleted": True})

    async def list_conversation_items(
        self,
        context: RequestContext,
        conversation_id: str,
        after: str | None,
        limit: int,
        order: ListConversationItemsOrder,
        include: list[str] | None,
    ) -> Reply[wire.ResponseItemList]:
        self._require_store()
        try:
            with store_errors():
                page = await self._store.conversations.page(
                    conversation_id, context.owner, after, limit, newest_first=order == "desc"
                )
        except LookupError:
            raise _item_not_found(conversation_id, after or "", "after") from None
        if page is None:
            raise conversation_not_found(conversation_id)
        return Reply(item_list(page.items, has_more=page.has_more))

    async def create_conversation_items(
        self,
        context: RequestContext,
        conversation_id: str,
        include: list[str] | None,
        body: models.CreateConversationItemsRequest,
    ) -> Reply[wire.ResponseItemList]:
        self._require_store()
        items = await self._stored(context, body.items)
        with store_errors():
            added = await self._store.conversations.add(conversation_id, items, context.owner)
        if added is None:
            raise conversation_not_found(conversation_id)
        return Reply(item_list(added, has_more=False))

    async def retrieve_conversation_item(
        self, context: RequestContext, conversation_id: str, item_id: str, include: list[str] | None
    ) -> Reply[wire.StoredItem]:
        await self._required(context, conversation_id)
        with store_errors():
            item = await self._store.conversations.item(conversation_id, item_id, context.owner)
        if item is None:
            raise _item_not_found(conversation_id, item_id)
        return Reply(cast("wire.StoredItem", item))

    async def delete_conversation_item(
        self, context: RequestContext, conversation_id: str, item_id: str
    ) -> Reply[wire.Conversation]:
        conversation = await self._required(context, conversation_id)
        with store_errors():
            if not await self._store.conversations.remove(conversation_id, item_id, context.owner):
                raise _item_not_found(conversation_id, item_id)
        return Reply(conversation)

    def _require_store(self) -> None:
        if not self._store.keeps:
            message = "This server stores no conversations: it was started with --response-store none."
            raise ApiError(ErrorCode.NOT_FOUND, message)

    async def _stored(self, context: RequestContext, items: list[InputItem]) -> list[StoredItem]:
        """Returns items in their stored form. Raises ApiError."""
        return stored(await resolved(items, "items", self._store, context.owner))

    async def _required(self, context: RequestContext, id: str) -> wire.Conversation:
        self._require_store()
        with store_errors():
            conversation = await self._store.conversations.get(id, context.owner)
        if conversation is None:
            raise conversation_not_found(id)
        return _shown(conversation)


def _shown(conversation: Conversation) -> wire.Conversation:
    metadata: dict[str, Any] = dict(conversation.metadata)
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created_at,
        "metadata": metadata,
    }


def _item_not_found(id: str, item_id: str, param: str = "item_id") -> ApiError:
    message = f"The conversation {id[:200]!r} has no item {item_id[:200]!r}."
    return ApiError(ErrorCode.ITEM_NOT_FOUND, message, param=param)
