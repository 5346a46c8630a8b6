"""The content of an answer as it arrives, bounded: neither an endless one nor a little gzip may fill the memory."""

import zlib

# The largest number of bytes of an answer, as sent and decoded.
LONGEST = 8_000_000

# Clients ask for answers without a content coding. Some proxies send one nevertheless.
IDENTITY = {"accept-encoding": "identity"}

# zlib: a gzip or zlib header, found by itself.
ANY_HEADER = zlib.MAX_WBITS | 32


class BadContent(Exception):
    """Raised for content that can't be decoded; the message is the reason."""


class TooLong(Exception):
    """Raised for content of more than LONGEST bytes; the message says so."""

    def __init__(self) -> None:
        super().__init__(f"the answer exceeds {LONGEST} bytes")


class Content:
    """The decoded content so far, of an answer with this `Content-Encoding`. Raises BadContent and TooLong."""

    def __init__(self, coding: str) -> None:
        coding = coding.strip().lower()
        if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise BadContent(f"the answer has the content coding {coding!r}, though the request asks for none")
        self._decoder = None if coding in ("", "identity") else zlib.decompressobj(ANY_HEADER)
        self._received = 0
        self.decoded = bytearray()

    @property
    def is_coded(self) -> bool:
        return self._decoder is not None

    def add(self, piece: bytes) -> None:
        self._received += len(piece)
        if self._decoder is not None:
            try:
                piece = self._decoder.decompress(piece, LONGEST + 1 - len(self.decoded))
            except zlib.error as error:
                raise BadContent(f"the answer isn't in its content coding: {error}") from None
        self.decoded += piece
        if max(self._received, len(self.decoded)) > LONGEST:
            raise TooLong
