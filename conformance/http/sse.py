"""Server-sent events decoded from bytes, as the WHATWG standard has them, without I/O."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass

# What the standard calls an event to which the stream gave no name.
NAMELESS = "message"


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    data: str
    event: str = NAMELESS


class Decoder:
    """Takes bytes as they arrive, cut anywhere, and returns the events that are complete."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._rest = ""
        self._data: list[str] = []
        self._event = ""

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        self._rest += self._text.decode(chunk)
        # A final CR may be half of a CR LF.
        held = "\r" if self._rest.endswith("\r") else ""
        lines = self._rest.removesuffix(held).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._rest = lines.pop() + held
        for line in lines:
            if event := self._line(line):
                yield event

    @property
    def incomplete(self) -> bool:
        """Tells whether the stream stands inside an event."""
        return bool(self._rest.strip("\r") or self._data)

    def _line(self, line: str) -> ServerSentEvent | None:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "data":
                self._data.append(value)
            elif name == "event":
                self._event = value
            return None  # comments, ids and retry times say nothing here
        data, event = self._data, self._event
        self._data, self._event = [], ""
        return ServerSentEvent("\n".join(data), event or NAMELESS) if data else None
