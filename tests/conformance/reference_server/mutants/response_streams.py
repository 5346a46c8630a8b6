"""Streams of responses that say something else than they should."""

from collections.abc import Iterator, Mapping
from typing import Any

from reference_server.generation import Asked, Piece
from reference_server.http import Event
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Run
from reference_server.responses import Response, Responses

ORDER = {"responses/rules/stream-order", "response/rules/stream-order"}


class CreatedCompleted(Responses):
    """A response counts as completed when its stream begins."""

    breaks = {"responses/events/begins-empty"}

    def first_events(self, begun: Response) -> Iterator[Event]:
        for event in super().first_events(begun):
            yield {**event, "response": {**begun, "status": "completed"}}


class CallsAtOnePlace(ItemEvents):
    """All calls of a stream are at the output_index 0."""

    breaks = {"responses/tools/several-streamed"}

    def item_events(self, asked: Asked, run: Run, item: Item, at: int) -> Iterator[Event]:
        yield from super().item_events(asked, run, item, 0 if item["type"] == "function_call" else at)


class EndsWithoutUsage(Responses):
    """The last event doesn't say what the response took."""

    breaks = {"responses/events/ends-whole"}

    def last_events(self, whole: Response) -> Iterator[Event]:
        for event in super().last_events(whole):
            yield {**event, "response": {**whole, "usage": None}}


class AlwaysCompleted(Responses):
    """Every stream ends with response.completed."""

    breaks = {"responses/events/cut-off"}

    def last_events(self, whole: Response) -> Iterator[Event]:
        yield {"type": "response.completed", "response": whole}


class LosesTheFirst(ItemEvents):
    """The first piece of a text doesn't come."""

    breaks = {
        "responses/forms/json-object",
        "responses/streams/cut-off",
        "responses/streams/history",
        "responses/streams/json-schema",
        "responses/streams/logprobs",
        "responses/streams/plain",
        "responses/streams/seed",
        "responses/streams/unicode",
    }
    faults = 2

    def part_events(
        self, asked: Asked, pieces: list[Piece], part: Mapping[str, Any], where: Mapping[str, Any]
    ) -> Iterator[Event]:
        yield from super().part_events(asked, pieces[1:], part, where)


class LosesArguments(ItemEvents):
    """The pieces of a call's arguments have lost their quotation marks."""

    breaks = {"responses/tools/streamed", "responses/streams/call"}
    faults = 3

    def arguments_delta(self, piece: Piece, position: Mapping[str, Any]) -> Event:
        event = super().arguments_delta(piece, position)
        return {**event, "delta": event["delta"].replace('"', "")}


class BeginsWithArguments(ItemEvents):
    """A call begins with all of its arguments, and the pieces repeat them."""

    breaks = {"responses/tools/streamed"}

    def item_added(self, item: Item, at: int) -> Event:
        event = super().item_added(item, at)
        arguments = {"arguments": item["arguments"]} if "arguments" in item else {}
        return {**event, "item": {**event["item"], **arguments}}
