"""Images travel between the processes in pieces: one message of many megabytes would keep the event loop too long."""

from collections.abc import Iterator
from dataclasses import replace

from specvino.engine.request import Image

PIECE_BYTES = 1 << 20


def cut(image: Image) -> Iterator[tuple[Image, bool]]:
    """Yields the image with a piece of its pixels at a time, and whether more follow."""
    for start in range(0, max(1, len(image.rgb)), PIECE_BYTES):
        end = start + PIECE_BYTES
        yield replace(image, rgb=image.rgb[start:end]), end < len(image.rgb)


class ChunkJoiner:
    """Puts the pieces together again, by a key for each image."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[bytes]] = {}

    def add(self, key: int, piece: Image, more: bool) -> Image | None:
        """Returns the image with its last piece."""
        pieces = self._pieces.setdefault(key, [])
        pieces.append(piece.rgb)
        if more:
            return None
        del self._pieces[key]
        return replace(piece, rgb=b"".join(pieces))

    def drop(self, key: int) -> None:
        self._pieces.pop(key, None)

    def clear(self) -> None:
        self._pieces.clear()
