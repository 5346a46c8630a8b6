"""Decodes server-sent events from bytes, as the WHATWG standard defines. No I/O."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

# The type of events without an `event:` line, by the standard.
NAMELESS = "message"

# The byte order mark. At the beginning of a stream it is skipped; a later line that begins with it has no known field,
# so clients ignore it. Here it is kept in front of the data, to be reported.
MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    data: str
    event: str = NAMELESS


class Decoder:
    """An incremental decoder: `feed` accepts bytes split anywhere and yields complete events."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._after_cr = False
        self._data: list[str] = []
        self._event = ""

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        text = self._text.decode(chunk)
        # A CR ends a line immediately; a LF after it belongs to the same line end, even in a later chunk.
        new = text.removeprefix("\n") if self._after_cr else text
        self._after_cr = text.endswith("\r") if text else self._after_cr
        lines = (self._rest + new).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop()
        for line in lines:
            if event := self._line(line):
                yield event

    @property
    def incomplete(self) -> bool:
        """Whether an event has begun and isn't complete."""
        return bool(self._rest or self._data)

    def _line(self, line: str) -> ServerSentEvent | None:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == MARK + "data":
                value, name = MARK + value, "data"
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._event = value
            return None  # comments, ids and retry times are ignored
        data, event = self._data, self._event
        self._data, self._event = [], ""
        return ServerSentEvent("\n".join(data), event or NAMELESS) if data else None
