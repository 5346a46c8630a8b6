"""Judges a stream by the document's table: is it one that the protocol allows?

Without I/O: events go in one by one, violations come out. An event is first classified into the facts that it states
(a choice's role, a piece of content, a finish, …); the facts drive the machines; the laws are what must hold beside.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.conformance.facts import classify
from specvino.conformance.laws import LAWS
from specvino.conformance.machines import Machines
from specvino.generated.streams import Stream


class StreamJudge:
    """Feed it every event, then `end`. Both yield violations, each a sentence."""

    def __init__(self, table: Stream) -> None:
        self._table = table
        self._machines = Machines(table.machines)
        self._laws = [LAWS[type(law)](law, self._machines) for law in table.laws]

    def feed(self, event: Mapping[str, Any]) -> Iterator[str]:
        facts = classify(event, self._table.classify, self._machines)
        if not facts and not self._table.silent:
            by = self._table.classify
            yield f"an event of {by} {event.get(by)!r} is unknown" if isinstance(by, str) else "an event states nothing"
        for law in self._laws:
            yield from law.event(event, facts)
        for fact in facts:
            for law in self._laws:
                yield from law.fact(event, fact)
            yield from self._machines.advance(fact)

    def end(self, *, terminated: bool) -> Iterator[str]:
        """The connection is closed; `terminated` says whether the terminator came, once and last."""
        if self._table.terminator is not None and not terminated:
            yield f"the stream does not end with {self._table.terminator}"
        if self._machines.failed:
            return  # what a failure cut off need not be whole
        yield from self._machines.finish()
        for law in self._laws:
            yield from law.end()
