"""Decodes lines of JSON (application/x-ndjson) from bytes. No I/O."""

import codecs
from collections.abc import Iterator

from specvino.conformance.streams.sse import ServerSentEvent


class LineDecoder:
    """An incremental decoder like that of server-sent events: each line is the data of a nameless event. An empty line
    is one, too, since clients parse each line."""

    def __init__(self) -> None:
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        *lines, self._rest = (self._rest + self._text.decode(chunk)).split("\n")
        yield from (ServerSentEvent(line.removesuffix("\r")) for line in lines)

    @property
    def incomplete(self) -> bool:
        """Whether a line has begun and isn't complete."""
        return bool(self._rest)
