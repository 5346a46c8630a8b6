"""Server-sent events decoded from bytes as in the WHATWG standard, without I/O."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

# The standard's name for an event without one.
NAMELESS = "message"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    data: str
    event: str = NAMELESS


class Decoder:
    """A decoder of bytes as they arrive, split anywhere, which returns complete events."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._after_cr = False
        self._data: list[str] = []
        self._event = ""

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        text = self._text.decode(chunk)
        # A CR ends a line at once; a LF after it belongs to the same line end, even if it comes later.
        new = text.removeprefix("\n") if self._after_cr else text
        self._after_cr = text.endswith("\r") if text else self._after_cr
        lines = (self._rest + new).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop()
        for line in lines:
            if event := self._line(line):
                yield event

    @property
    def incomplete(self) -> bool:
        """Returns whether the stream is inside an event."""
        return bool(self._rest or self._data)

    def _line(self, line: str) -> ServerSentEvent | None:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._event = value
            return None  # comments, ids and retry times are ignored
        data, event = self._data, self._event
        self._data, self._event = [], ""
        return ServerSentEvent("\n".join(data), event or NAMELESS) if data else None
