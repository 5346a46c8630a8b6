from functools import partial

import pytest

from specvino.engine.openvino.messages.images import PIECE_BYTES, ChunkJoiner, in_pieces
from specvino.engine.request import Image


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_what_is_cut_is_joined(size: int) -> None:
    image = Image(7, 5, bytes(range(256)) * (size // 256) + bytes(size % 256))
    pieces = list(in_pieces(image))
    assert all(len(piece.rgb) <= PIECE_BYTES for piece, _ in pieces)
    joiner = ChunkJoiner()
    other = joiner.add(2, Image(1, 1, b"x"), more=True)
    *parts, whole = [joiner.add(1, piece, more) for piece, more in pieces]
    assert (other, parts, whole) == (None, [None] * (len(pieces) - 1), image)


def test_what_is_dropped_begins_anew() -> None:
    joiner = ChunkJoiner()
    for forget in (partial(joiner.drop, 1), joiner.clear):
        joiner.add(1, Image(1, 1, b"lost"), more=True)
        forget()
        assert joiner.add(1, Image(1, 1, b"rgb"), more=False) == Image(1, 1, b"rgb")
