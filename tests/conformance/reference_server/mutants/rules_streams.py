"""Streams of a wrong form or order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reference_server.chat import Chat
from reference_server.completions import Completions
from reference_server.generation import Asked, Output, Piece
from reference_server.http import Event, Http, Stream
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Run
from reference_server.messages import Block, Messages
from reference_server.responses import Response, Responses


class EmptyReasons(Chat):
    """finish_reason is an empty text before the end."""

    breaks = {
        "chat/rules/event-shape",
        "chat/streaming/reason-is-null-before",
        "completions/rules/event-shape",
    }

    def reason_so_far(self, reason: str | None) -> str | None:
        return reason or ""


class DeltasWithoutLogprobs(ItemEvents):
    """The deltas of a response's text have no logprobs."""

    breaks = {"responses/rules/event-shape", "response/rules/event-shape"}

    def part_delta(self, asked: Asked, piece: Piece, inside: str, position: Mapping[str, Any]) -> Event:
        return {"type": f"{inside}.delta", **position, "delta": piece.text}


class FinishesTwice(Chat):
    """A choice is ended by two chunks."""

    breaks = {"chat/rules/stream-order"}

    def finishes(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        yield from super().finishes(head, asked, output)
        yield from super().finishes(head, asked, output)


class ChatsNeverFinish(Chat):
    """A conversation's stream breaks off without a finish_reason."""

    breaks = {"chat/rules/stream-order", "chat/stop/streamed", "chat/structured_output/streamed"}

    def finishes(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        yield from ()


class CompletionsNeverFinish(Completions):
    """A text's stream breaks off without a finish_reason."""

    breaks = {"completions/rules/stream-order"}
    faults = 2

    def completion_finishes(
        self, head: Mapping[str, Any], asked: Asked, output: Output, offsets: Mapping[int, int]
    ) -> Iterator[Event]:
        yield from ()


class CountsFromOne(Responses):
    """The events of a response are counted from 1."""

    breaks = {"responses/rules/stream-order", "response/rules/stream-order"}
    faults = 2

    def sequence_number(self, at: int) -> int:
        return at + 1


class EventsOfItsOwn(Responses):
    """A response has an event that no client knows."""

    breaks = {"responses/rules/known-events", "response/rules/known-events"}

    def first_events(self, begun: Response) -> Iterator[Event]:
        yield from super().first_events(begun)
        yield {"type": "response.thinking"}


class MessageEventsOfItsOwn(Messages):
    """A message has an event that no client knows."""

    breaks = {"messages/rules/known-events"}

    def block_events(self, index: int, block: Block, output: Output) -> Iterator[Event]:
        yield from super().block_events(index, block, output)
        yield {"type": "content_block_thought"}


class AliveBeforeItBegins(Responses):
    """A sign of life comes before the response was created."""

    breaks = {"responses/rules/stream-order", "response/rules/stream-order"}

    def first_events(self, begun: Response) -> Iterator[Event]:
        yield {"type": "keepalive"}
        yield from super().first_events(begun)


class AliveAfterItEnded(Responses):
    """A sign of life comes after the response was completed."""

    breaks = {"responses/rules/stream-order", "response/rules/stream-order"}

    def numbered(self, events: Iterable[Event]) -> Iterator[Event]:
        yield from super().numbered([*events, {"type": "keepalive"}])


class AliveWithoutNumber(Responses):
    """A sign of life has no number."""

    breaks = {"responses/rules/event-shape", "response/rules/event-shape", "responses/rules/stream-order"}
    faults = 2

    def numbered(self, events: Iterable[Event]) -> Iterator[Event]:
        first, *others = super().numbered(events)
        yield from (first, {"type": "keepalive"}, *others)


class CompletesAnItemTwice(ItemEvents):
    """An item ends twice, which is an event of a known type in the wrong place."""

    breaks = {"responses/rules/stream-order", "response/rules/stream-order"}

    def item_events(self, asked: Asked, run: Run, item: Item, at: int) -> Iterator[Event]:
        yield from super().item_events(asked, run, item, at)
        yield self.item_done(item, at)


class CountsWithoutId(Chat):
    """The chunk with the usage has no id, as only those with the results of a filter may be."""

    breaks = {"chat/rules/stream-order", "chat/rules/event-shape"}

    def usage_events(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> Iterator[Event]:
        for event in super().usage_events(head, asked, outputs):
            yield {**event, "id": ""}


class EndsWithoutDone(Http):
    """Streams lack [DONE]."""

    breaks = {"chat/rules/stream-end", "completions/rules/stream-end"}

    def end(self, stream: Stream) -> bytes:
        return b""


class DoneEverywhere(Http):
    """Streams of responses and messages end with [DONE], too."""

    breaks = {"responses/rules/stream-end", "response/rules/stream-end", "messages/rules/stream-end"}

    def end(self, stream: Stream) -> bytes:
        return b"data: [DONE]\n\n"
