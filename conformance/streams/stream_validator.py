"""Validates a stream against the document's table of its protocol (`x-stream`). No I/O.

An event is classified into facts (a choice's role, a piece of content, a finish, …); facts drive the state machines,
and the invariants must hold.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from specvino.conformance.streams.asides import is_aside, lacks_type
from specvino.conformance.streams.invariants import INVARIANTS
from specvino.conformance.streams.sse import NAMELESS, ServerSentEvent
from specvino.conformance.streams.state_machines import StateMachines, classify
from specvino.conformance.streams.strict_json import strict_json
from specvino.generated.streams import Stream


class StreamValidator:
    """Validates the JSON values of one stream's events: call `feed` with each event, then `end`. Both yield violations
    as sentences."""

    def __init__(self, table: Stream) -> None:
        self._table = table
        self._machines = StateMachines(table.machines, has_terminator=table.terminator is not None)
        self._invariants = [INVARIANTS[type(law)](law, self._machines) for law in table.laws]

    def feed(self, event: Mapping[str, Any]) -> Iterator[str]:
        facts = classify(event, self._table.classify, self._machines)
        if not facts and is_aside(self._table, event):
            for invariant in self._invariants:
                yield from invariant.aside(event)
            return
        if not facts and not self._table.silent:
            yield "an event has no known content"
        for invariant in self._invariants:
            yield from invariant.event(event, facts)
        for fact in facts:
            for invariant in self._invariants:
                yield from invariant.fact(event, fact)
            yield from self._machines.advance(fact)

    def end(self, *, terminated: bool) -> Iterator[str]:
        """Yields the violations at the end of the connection. `terminated` is whether the terminator came exactly once,
        as the last event."""
        if self._table.terminator is not None and not terminated:
            yield f"the stream doesn't end with {self._table.terminator}"
        if self._machines.failed:
            return  # a failed stream may be incomplete
        yield from self._machines.finish()
        for invariant in self._invariants:
            yield from invariant.end()


class SseValidator:
    """Validates the events of one stream as they are sent, including event names and the terminator: call `feed` with
    each event, then `end`. Both yield violations as sentences. `described` returns what a document describes of an
    event."""

    def __init__(self, table: Stream, described: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict) -> None:
        self._table = table
        self._described = described
        self._terminator = table.terminator
        self._name_field = table.classify if table.framing == "event" and isinstance(table.classify, str) else None
        self._terminated = False
        self._validator = StreamValidator(table)

    def feed(self, sent: ServerSentEvent) -> Iterator[str]:
        if self._name_field is None and sent.event != NAMELESS:
            yield f"an event is named {sent.event}, but events of this stream must not have an `event:` line"
        if sent.data == self._terminator:
            if self._terminated:
                yield f"{sent.data} comes a second time"
            self._terminated = True
            return
        if self._terminated:
            yield f"an event comes after {self._terminator}"
        try:
            event = strict_json(sent.data)
        except (ValueError, RecursionError):
            yield f"an event isn't JSON: {sent.data[:80]}"
            return
        if not isinstance(event, dict):
            yield f"an event isn't a JSON object: {sent.data[:80]}"
            return
        is_known = not lacks_type(self._table, event)
        if self._name_field is not None and is_known and event.get(self._name_field) != sent.event:
            naming = "has no `event:` line;" if sent.event == NAMELESS else f"is named {sent.event}, but"
            yield f"an event {naming} its {self._name_field} is {event.get(self._name_field)!r}"
        # By what it has besides, which no document describes, an event may be known to be no part of the answer.
        yield from self._validator.feed(event if is_aside(self._table, event) else self._described(event))

    def end(self) -> Iterator[str]:
        """Yields the violations at the end of the connection."""
        yield from self._validator.end(terminated=self._terminated)
