"""Conversations that are kept wrongly, or not at all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reference_server.conversations import Conversations, Kept
from reference_server.http import Call
from reference_server.items import Item
from reference_server.refusal import Refusal
from reference_server.responses import Responses
from specvino.generated.errors import ErrorCode


class KeepsNoConversation(Conversations):
    """A conversation is gone when it is created."""

    breaks = {"conversations/capabilities/store"}

    def create_conversation(self, call: Call) -> dict[str, Any]:
        shown = super().create_conversation(call)
        del self.kept[shown["id"]]
        return shown


class ConversationsWithoutMetadata(Conversations):
    """A conversation is read without its metadata."""

    breaks = {"conversations/stored/reads-back", "conversations/stored/changed"}

    def retrieve_conversation(self, call: Call) -> dict[str, Any]:
        return {**super().retrieve_conversation(call), "metadata": {}}


class MetadataOfItsOwn(Conversations):
    """A conversation without metadata says where it comes from."""

    breaks = {"conversations/stored/without-metadata"}

    def metadata(self, body: Mapping[str, Any]) -> dict[str, str]:
        return super().metadata(body) or {"origin": "api"}


class AddsMetadata(Conversations):
    """New metadata are added to those that a conversation has."""

    breaks = {"conversations/stored/changed"}

    def changed(self, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
        return {**old, **new}


class EmptiesConversations(Conversations):
    """A deleted conversation only loses its items."""

    breaks = {"conversations/stored/deleted"}

    def forget(self, id: str) -> None:
        self.kept[id].items.clear()


class AnyConversation(Conversations):
    """An id that nobody knows stands for the newest conversation."""

    breaks = {
        "conversations/stored/unknown",
        "conversations/stored/unknown-to-add-to",
        "conversations/stored/unknown-to-change",
        "conversations/stored/unknown-to-delete",
    }
    faults = 2

    def conversation(self, id: str, param: str = "conversation_id") -> Kept:
        return super().conversation(id if id in self.kept else [*self.kept][-1], param)


class InventsItems(Conversations):
    """A conversation that nobody knows has every item."""

    breaks = {"conversations/stored/unknown-item"}

    def item(self, call: Call) -> Item:
        if call.parameters["conversation_id"] in self.kept:
            return super().item(call)
        return {"id": call.parameters["item_id"], "type": "message", "role": "user", "content": []}


class DeletesAnyItem(Conversations):
    """An item of a conversation that nobody knows is deleted."""

    breaks = {"conversations/stored/unknown-item-to-delete"}

    def delete_conversation_item(self, call: Call) -> dict[str, Any]:
        id = call.parameters["conversation_id"]
        if id in self.kept:
            return super().delete_conversation_item(call)
        return {"id": id, "object": "conversation", "created_at": 0, "metadata": {}}


class ListsOfAnyConversation(Conversations):
    """A conversation that nobody knows has no items."""

    breaks = {"conversations/stored/deleted", "conversations/stored/unknown-to-list"}

    def list_conversation_items(self, call: Call) -> dict[str, Any]:
        if call.parameters["conversation_id"] not in self.kept:
            return self.server.stored.page([], call.query)
        return super().list_conversation_items(call)


class ChangesToNothing(Conversations):
    """A change without metadata takes all away."""

    breaks = {"conversations/stored/metadata-missing"}

    def update_conversation(self, call: Call) -> dict[str, Any]:
        call.body.setdefault("metadata", {})
        return super().update_conversation(call)


class AddsInFront(Conversations):
    """Items are added before those that a conversation has."""

    breaks = {"conversations/items/listed"}

    def create_conversation_items(self, call: Call) -> dict[str, Any]:
        kept = self.of(call)
        before, kept.items = kept.items, []
        added = super().create_conversation_items(call)
        kept.items += before
        return added


class ReturnsTheFirst(Conversations):
    """Adding items is answered with the first one."""

    breaks = {"conversations/items/returned", "conversations/items/kinds"}

    def returned(self, items: list[Item]) -> list[Item]:
        return items[:1]


class TheFirstItem(Conversations):
    """Every id stands for the first item."""

    breaks = {"conversations/items/one", "conversations/items/deleted"}
    faults = 2

    def item(self, call: Call) -> Item:
        return self.of(call).items[0]


class DeletesAllItems(Conversations):
    """With one item, all are deleted."""

    breaks = {"conversations/items/deleted"}

    def without(self, items: list[Item], item: Item) -> list[Item]:
        return []


class KeepsMessagesOnly(Conversations):
    """Calls and their outputs aren't kept."""

    breaks = {"conversations/items/kinds"}

    def items_of(self, call: Call, items: Sequence[Item]) -> list[Item]:
        return [item for item in super().items_of(call, items) if item["type"] == "message"]


class TakesManyItems(Conversations):
    """Any number of items is taken, the first twenty of them."""

    breaks = {"conversations/items/too-many"}

    def create_conversation_items(self, call: Call) -> dict[str, Any]:
        call.body["items"] = call.body["items"][:20]
        return super().create_conversation_items(call)


class AddsNothing(Conversations):
    """Without items, none are added."""

    breaks = {"conversations/items/items-missing"}

    def create_conversation_items(self, call: Call) -> dict[str, Any]:
        call.body.setdefault("items", [])
        return super().create_conversation_items(call)


class AnswersOutsideConversations(Conversations):
    """The items of a conversation aren't a part of the prompt."""

    breaks = {"responses/conversations/continued", "responses/conversations/streamed"}

    def earlier(self, id: str | None) -> list[Item]:
        super().earlier(id)
        return []


class AddsOutputOnly(Conversations):
    """The input of a response isn't added to its conversation."""

    breaks = {"responses/conversations/continued", "responses/conversations/streamed"}

    def add(self, id: str, items: Iterable[Item]) -> None:
        super().add(id, [*items][1:])


class BeginsConversations(Conversations):
    """A response in a conversation that nobody knows is the first of it."""

    breaks = {"responses/conversations/unknown"}

    def conversation(self, id: str, param: str = "conversation_id") -> Kept:
        if param == "conversation":
            self.kept.setdefault(id, Kept({"id": id}))
        return super().conversation(id, param)


class PrefersConversations(Responses):
    """Beside a conversation, the response to continue is left out."""

    breaks = {"responses/conversations/beside-previous"}

    def responses(self, call: Call) -> Any:
        if call.body.get("conversation"):
            call.body.pop("previous_response_id", None)
        return super().responses(call)


class ConversationsFail(Conversations):
    """A conversation to create is a failure of the server."""

    breaks = {"conversations/rules/no-server-error"}

    def create_conversation(self, call: Call) -> dict[str, Any]:
        raise Refusal(ErrorCode.INTERNAL_ERROR, "No conversation can be created.")


class DeletedConversationsOtherwise(Conversations):
    """The deletion of a conversation says the conversation's kind of object."""

    breaks = {"conversation_deletion/rules/answer-shape"}

    def delete_conversation(self, call: Call) -> dict[str, Any]:
        return {**super().delete_conversation(call), "object": "conversation"}


class ItemsWithoutType(Conversations):
    """An item is read without its type."""

    breaks = {"conversation_item/rules/answer-shape"}

    def retrieve_conversation_item(self, call: Call) -> Item:
        item = super().retrieve_conversation_item(call)
        return {name: item[name] for name in item if name != "type"}
