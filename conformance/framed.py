"""Judges a stream as it was sent: the data of each server-sent event, the terminator among them."""

import json
from collections.abc import Iterator

from specvino.conformance.streams import StreamJudge
from specvino.generated.streams import Stream


class FramedJudge:
    """Feed it the data of every event, then `end`. Both yield violations, each a sentence."""

    def __init__(self, table: Stream) -> None:
        self._terminator = table.terminator
        self._terminated = False
        self._judge = StreamJudge(table)

    def feed(self, data: str) -> Iterator[str]:
        if data == self._terminator:
            if self._terminated:
                yield f"{data} comes a second time"
            self._terminated = True
            return
        if self._terminated:
            yield f"an event comes after {self._terminator}"
        try:
            event = json.loads(data)
        except (ValueError, RecursionError) as error:
            yield f"an event is not JSON: {error}"
            return
        if isinstance(event, dict):
            yield from self._judge.feed(event)
        else:
            yield f"an event is no JSON object but {data[:80]}"

    def end(self) -> Iterator[str]:
        """The connection is closed."""
        yield from self._judge.end(terminated=self._terminated)
