"""The events that build an output item, without their numbers."""

from collections.abc import Iterator, Mapping
from typing import Any

from reference_server.generation import Asked, Piece
from reference_server.http import Event
from reference_server.items import Item, Run
from reference_server.part import Part

PARTS = {
    "output_text": ("response.content_part", "response.output_text", "content_index"),
    "reasoning_text": ("response.content_part", "response.reasoning_text", "content_index"),
    "summary_text": ("response.reasoning_summary_part", "response.reasoning_summary_text", "summary_index"),
}
"""How the events of a kind of part are named, and their key."""


class ItemEvents(Part):
    def item_events(self, asked: Asked, run: Run, item: Item, at: int) -> Iterator[Event]:
        """All events of the output's item number `at`."""
        yield self.item_added(item, at)
        if item["type"] == "function_call":
            yield from self.call_events(run[1], item, at)
        elif item["type"] == "custom_tool_call":
            yield from self.custom_events(run[1], item, at)
        else:
            part = [*(item.get("content") or ()), *(item.get("summary") or ())][0]
            yield from self.part_events(asked, run[1], part, {"item_id": self.item_id_of(item), "output_index": at})
        yield self.item_done(item, at)

    def item_added(self, item: Item, at: int) -> Event:
        return {"type": "response.output_item.added", "output_index": at, "item": self.server.items.begun(item)}

    def item_done(self, item: Item, at: int) -> Event:
        return {"type": "response.output_item.done", "output_index": at, "item": item}

    def item_id_of(self, item: Item) -> str:
        """The id that an item's events name."""
        return str(item["id"])

    def call_events(self, pieces: list[Piece], item: Item, at: int) -> Iterator[Event]:
        position = {"item_id": self.item_id_of(item), "output_index": at}
        for piece in pieces:
            if piece.text:
                yield self.arguments_delta(piece, position)
        yield self.arguments_done(item, position)

    def arguments_delta(self, piece: Piece, position: Mapping[str, Any]) -> Event:
        return {"type": "response.function_call_arguments.delta", **position, "delta": piece.text}

    def arguments_done(self, item: Item, position: Mapping[str, Any]) -> Event:
        call = {"name": item["name"], "arguments": item["arguments"]}
        return {"type": "response.function_call_arguments.done", **position, **call}

    def custom_events(self, pieces: list[Piece], item: Item, at: int) -> Iterator[Event]:
        position = {"item_id": self.item_id_of(item), "output_index": at}
        for piece in pieces:
            if piece.text:
                yield self.input_delta(piece, position)
        yield {"type": "response.custom_tool_call_input.done", **position, "input": item["input"]}

    def input_delta(self, piece: Piece, position: Mapping[str, Any]) -> Event:
        return {"type": "response.custom_tool_call_input.delta", **position, "delta": piece.text}

    def part_events(
        self, asked: Asked, pieces: list[Piece], part: Mapping[str, Any], where: Mapping[str, Any]
    ) -> Iterator[Event]:
        around, inside, key = PARTS[part["type"]]
        position = {**where, key: 0}
        yield {"type": f"{around}.added", **position, "part": self.empty_part(part)}
        for piece in pieces:
            yield self.part_delta(asked, piece, inside, position)
        yield self.part_text_done(part, inside, position)
        yield {"type": f"{around}.done", **position, "part": part}

    def empty_part(self, part: Mapping[str, Any]) -> dict[str, Any]:
        return {**part, "text": "", **({"logprobs": []} if "logprobs" in part else {})}

    def part_delta(self, asked: Asked, piece: Piece, inside: str, position: Mapping[str, Any]) -> Event:
        more = (
            {"logprobs": self.server.items.output_logprobs(asked, piece.tokens)}
            if inside.endswith("output_text")
            else {}
        )
        return {"type": f"{inside}.delta", **position, "delta": piece.text, **more}

    def part_text_done(self, part: Mapping[str, Any], inside: str, position: Mapping[str, Any]) -> Event:
        more = {"logprobs": part["logprobs"]} if "logprobs" in part else {}
        return {"type": f"{inside}.done", **position, "text": part["text"], **more}
