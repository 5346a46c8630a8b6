"""Judges a stream as it was sent: its server-sent events with their names, the terminator among them."""

import json
from collections.abc import Iterator

from specvino.conformance.http.sse import NAMELESS, ServerSentEvent
from specvino.conformance.streams.stream_judge import StreamJudge
from specvino.generated.streams import Stream


class SseJudge:
    """Judges a stream: feed it every event, then `end`. Both yield violations, each a sentence."""

    def __init__(self, table: Stream) -> None:
        self._terminator = table.terminator
        self._name_field = table.classify if table.framing == "event" and isinstance(table.classify, str) else None
        self._terminated = False
        self._judge = StreamJudge(table)

    def feed(self, sent: ServerSentEvent) -> Iterator[str]:
        if self._name_field is None and sent.event != NAMELESS:
            yield f"an event is named {sent.event}, but the events of this stream have no names"
        if sent.data == self._terminator:
            if self._terminated:
                yield f"{sent.data} comes a second time"
            self._terminated = True
            return
        if self._terminated:
            yield f"an event comes after {self._terminator}"
        try:
            event = json.loads(sent.data)
        except (ValueError, RecursionError):
            yield f"an event is not JSON: {sent.data[:80]}"
            return
        if not isinstance(event, dict):
            yield f"an event is no JSON object but {sent.data[:80]}"
            return
        if self._name_field is not None and event.get(self._name_field) != sent.event:
            told = "has no `event:` line;" if sent.event == NAMELESS else f"is named {sent.event}, but"
            yield f"an event {told} its {self._name_field} is {event.get(self._name_field)!r}"
        yield from self._judge.feed(event)

    def end(self) -> Iterator[str]:
        """Yields the violations that show when the connection is closed."""
        yield from self._judge.end(terminated=self._terminated)
