"""Tools of agents that are dropped, or called as something else."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reference_server.generation import Asked, Piece
from reference_server.http import Event
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Items
from reference_server.responses import Responses
from reference_server.tools import Offer, Tools


class CustomToolsDropped(Tools):
    """Custom tools can't be called."""

    breaks = {"responses/capabilities/custom-tools"}

    def offer(self, body: Mapping[str, Any]) -> Offer:
        return Offer({}) if any(tool["type"] == "custom" for tool in body["tools"]) else super().offer(body)


class CustomCallsAsFunctions(Items):
    """A call of a custom tool is a call of a function."""

    breaks = {"responses/capabilities/custom-tools"}
    faults = 2

    def custom_item(self, first: Piece, input: str, status: str) -> Item:
        return self.call_item(first, input, status)


class NamespacesDropped(Tools):
    """The functions of a namespace can't be called."""

    breaks = {"responses/capabilities/namespaces"}

    def offer(self, body: Mapping[str, Any]) -> Offer:
        return Offer({}) if any(tool["type"] == "namespace" for tool in body["tools"]) else super().offer(body)


class NamespaceInTheName(Tools):
    """A call has the namespace in its name only."""

    breaks = {"responses/capabilities/namespaces"}
    faults = 2

    def namespaced(self, namespace: str, tool: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**tool, "name": f"{namespace}__{tool['name']}"}


class AdditionalToolsDropped(Responses):
    """Tools in the input can't be called."""

    breaks = {"responses/capabilities/additional-tools"}

    def response_asked(self, body: Mapping[str, Any], taken: Sequence[Item]) -> Asked:
        kept = [item for item in taken if item["type"] != "additional_tools"]
        return super().response_asked(body if len(kept) == len(taken) else {**body, "tool_choice": "none"}, kept)


class CustomInputTwice(ItemEvents):
    """Each delta of a custom tool's input comes twice."""

    breaks = {"responses/agent_tools/custom-streamed"}
    faults = 2

    def input_delta(self, piece: Piece, position: Mapping[str, Any]) -> Event:
        return super().input_delta(Piece(piece.kind, 2 * piece.text), position)


class CustomResultsUnread(Items):
    """The results of custom tools aren't in the prompt."""

    breaks = {"responses/agent_tools/custom-answered"}

    def item_turns(self, items: Iterable[Item], param: str) -> Iterator[tuple[str, str]]:
        yield from super().item_turns([item for item in items if not item["type"].startswith("custom")], param)


class NamespacedCallsUnread(Items):
    """The calls of a namespace's functions and their results aren't in the prompt."""

    breaks = {"responses/agent_tools/namespace-answered"}

    def item_turns(self, items: Iterable[Item], param: str) -> Iterator[tuple[str, str]]:
        items = list(items)
        namespaced = {item["call_id"] for item in items if item.get("namespace")}
        yield from super().item_turns([item for item in items if item.get("call_id") not in namespaced], param)
