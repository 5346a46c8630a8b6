"""Judges a stream by the document's table of its protocol.

Without I/O: events go in one by one, violations come out. An event is classified into the facts that it states (a
choice's role, a piece of content, a finish, …); the facts drive the state machines; the invariants must hold too.
`StreamJudge` takes the JSON of events, `SseJudge` the server-sent events as they were sent, with the terminator.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.conformance.streams.invariants import INVARIANTS
from specvino.conformance.streams.sse import NAMELESS, ServerSentEvent
from specvino.conformance.streams.state_machines import StateMachines, classify
from specvino.generated.streams import Stream


class StreamJudge:
    """A judge of one stream: call `feed` with every event, then `end`. Both yield violations, each a sentence."""

    def __init__(self, table: Stream) -> None:
        self._table = table
        self._machines = StateMachines(table.machines)
        self._invariants = [INVARIANTS[type(law)](law, self._machines) for law in table.laws]

    def feed(self, event: Mapping[str, Any]) -> Iterator[str]:
        facts = classify(event, self._table.classify, self._machines)
        if not facts and not self._table.silent:
            by = self._table.classify
            yield f"an event of {by} {event.get(by)!r} is unknown" if isinstance(by, str) else "an event states nothing"
        for invariant in self._invariants:
            yield from invariant.event(event, facts)
        for fact in facts:
            for invariant in self._invariants:
                yield from invariant.fact(event, fact)
            yield from self._machines.advance(fact)

    def end(self, *, terminated: bool) -> Iterator[str]:
        """Yields the violations at the end of the connection; `terminated` is whether the terminator came, once and
        last."""
        if self._table.terminator is not None and not terminated:
            yield f"the stream does not end with {self._table.terminator}"
        if self._machines.failed:
            return  # what a failure cuts off need not be complete
        yield from self._machines.finish()
        for invariant in self._invariants:
            yield from invariant.end()


class SseJudge:
    """A judge of one stream: call `feed` with every event, then `end`. Both yield violations, each a sentence."""

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
            naming = "has no `event:` line;" if sent.event == NAMELESS else f"is named {sent.event}, but"
            yield f"an event {naming} its {self._name_field} is {event.get(self._name_field)!r}"
        yield from self._judge.feed(event)

    def end(self) -> Iterator[str]:
        """Yields the violations at the end of the connection."""
        yield from self._judge.end(terminated=self._terminated)
