"""The content of an answer as it arrives, bounded: neither an endless one nor a little gzip may fill the memory."""

import zlib

# The largest number of bytes of an answer, as sent and decoded.
LONGEST = 8_000_000

# Clients ask for answers without a content coding. Some proxies send one nevertheless.
IDENTITY = {"accept-encoding": "identity"}

# zlib: a gzip or zlib header, found by itself.
ANY_HEADER = zlib.MAX_WBITS | 32

# How a member of gzip begins; content may have several, one after the other (RFC 1952, section 2.2).
MEMBER = b"\x1f\x8b"

# Empty members, of 20 bytes, take more CPU time than anything else of their size: so many are decoded, and one more for
# each _BYTES_OF_A_MEMBER bytes. A member for each event of a stream is larger.
_MEMBERS = 1000
_BYTES_OF_A_MEMBER = 64


class BadContent(Exception):
    """Raised for content that can't be decoded; the message is the reason."""


class TooLong(Exception):
    """Raised for content of more than LONGEST bytes; the message says so."""

    def __init__(self) -> None:
        super().__init__(f"the answer exceeds {LONGEST} bytes")


class Content:
    """The decoded content so far, of an answer with this `Content-Encoding`. Without content the coding is irrelevant.
    Methods raise BadContent and TooLong."""

    def __init__(self, coding: str) -> None:
        self._coding = coding.strip().lower()
        self._decoder = zlib.decompressobj(ANY_HEADER)
        self._received = 0
        self._members = 1
        self.decoded = bytearray()

    @property
    def is_coded(self) -> bool:
        return self._coding not in ("", "identity")

    def require_known_coding(self) -> None:
        """Raises BadContent unless the content can be decoded."""
        if self.is_coded and self._coding not in ("gzip", "x-gzip", "deflate"):
            raise BadContent(f"the answer has the content coding {self._coding!r}, though the request asks for none")

    def add(self, piece: bytes) -> None:
        if not piece:
            return
        self.require_known_coding()
        self._received += len(piece)
        if self.is_coded:
            self._decode(piece)
        else:
            self.decoded += piece
        self._require_short()

    def _decode(self, piece: bytes) -> None:
        try:
            while piece:
                self.decoded += self._decoder.decompress(piece, LONGEST + 1 - len(self.decoded))
                self._require_short()
                piece = b""
                if self._decoder.unused_data.startswith(MEMBER):
                    self._members += 1
                    most = _MEMBERS + self._received // _BYTES_OF_A_MEMBER
                    if self._members > most:
                        raise BadContent(f"{self._received} bytes of the answer have more than {most} members of gzip")
                    piece = self._decoder.unused_data
                    self._decoder = zlib.decompressobj(ANY_HEADER)
        except zlib.error as error:
            raise BadContent(f"the answer isn't in its content coding: {error}") from None

    def _require_short(self) -> None:
        if max(self._received, len(self.decoded)) > LONGEST:
            raise TooLong
