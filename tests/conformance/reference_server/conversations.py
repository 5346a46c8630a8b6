"""Stored conversations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reference_server.http import Call, Route
from reference_server.items import Item
from reference_server.part import Part
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode

if TYPE_CHECKING:
    from reference_server.server import ReferenceServer


@dataclass(slots=True)
class Kept:
    """A conversation, and its items from the oldest one on."""

    shown: dict[str, Any]
    items: list[Item] = field(default_factory=list)


class Conversations(Part):
    routes = (
        Route("POST", "/conversations", "create_conversation"),
        Route("GET", "/conversations/{conversation_id}", "retrieve_conversation"),
        Route("POST", "/conversations/{conversation_id}", "update_conversation"),
        Route("DELETE", "/conversations/{conversation_id}", "delete_conversation"),
        Route("GET", "/conversations/{conversation_id}/items", "list_conversation_items"),
        Route("POST", "/conversations/{conversation_id}/items", "create_conversation_items"),
        Route("GET", "/conversations/{conversation_id}/items/{item_id}", "retrieve_conversation_item"),
        Route("DELETE", "/conversations/{conversation_id}/items/{item_id}", "delete_conversation_item"),
    )

    def __init__(self, server: "ReferenceServer") -> None:
        super().__init__(server)
        self.kept: dict[str, Kept] = {}

    def create_conversation(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "CreateConversationRequest")
        items = self.items_of(call, body.get("items") or [])
        shown: dict[str, Any] = {
            "id": f"conv_{self.server.generation.count():08x}",
            "object": "conversation",
            "created_at": self.server.http.now(),
            "metadata": self.metadata(body),
        }
        self.kept[shown["id"]] = Kept(shown, items)
        return shown

    def metadata(self, body: Mapping[str, Any]) -> dict[str, str]:
        return dict(body.get("metadata") or {})

    def items_of(self, call: Call, items: Sequence[Item]) -> list[Item]:
        return [*self.server.responses.resolved(call, self.server.items.input_items(items))] if items else []

    def conversation(self, id: str, param: str = "conversation_id") -> Kept:
        """Raises Refusal."""
        if id not in self.kept:
            message = f"No conversation is stored under {id[:200]!r}."
            raise Refusal(ErrorCode.CONVERSATION_NOT_FOUND, message, param)
        return self.kept[id]

    def of(self, call: Call) -> Kept:
        return self.conversation(call.parameters["conversation_id"])

    def named(self, body: Mapping[str, Any]) -> str | None:
        """The conversation of a response."""
        value = body.get("conversation")
        id: str | None = value["id"] if isinstance(value, Mapping) else value
        return id

    def earlier(self, id: str | None) -> list[Item]:
        return [] if id is None else [*self.conversation(id, "conversation").items]

    def add(self, id: str, items: Iterable[Item]) -> None:
        self.kept[id].items += items

    def retrieve_conversation(self, call: Call) -> dict[str, Any]:
        return self.of(call).shown

    def update_conversation(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "UpdateConversationRequest")
        kept = self.of(call)
        kept.shown = {**kept.shown, "metadata": self.changed(kept.shown["metadata"], self.metadata(body))}
        return kept.shown

    def changed(self, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
        return dict(new)

    def delete_conversation(self, call: Call) -> dict[str, Any]:
        self.of(call)
        id = call.parameters["conversation_id"]
        self.forget(id)
        return {"id": id, "object": "conversation.deleted", "deleted": True}

    def forget(self, id: str) -> None:
        del self.kept[id]

    def list_conversation_items(self, call: Call) -> dict[str, Any]:
        return self.server.stored.page(self.of(call).items, call.query)

    def create_conversation_items(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "CreateConversationItemsRequest")
        kept, items = self.of(call), self.items_of(call, body["items"])
        kept.items += items
        return self.server.stored.page(self.returned(items), {"order": "asc"})

    def returned(self, items: list[Item]) -> list[Item]:
        """What adding items is answered with."""
        return items

    def item(self, call: Call) -> Item:
        """Raises Refusal."""
        for item in self.of(call).items:
            if item["id"] == call.parameters["item_id"]:
                return item
        raise Refusal(ErrorCode.ITEM_NOT_FOUND, "The conversation has no such item.", "item_id")

    def retrieve_conversation_item(self, call: Call) -> Item:
        return self.item(call)

    def delete_conversation_item(self, call: Call) -> dict[str, Any]:
        item, kept = self.item(call), self.of(call)
        kept.items = self.without(kept.items, item)
        return kept.shown

    def without(self, items: list[Item], item: Item) -> list[Item]:
        return [kept for kept in items if kept is not item]
