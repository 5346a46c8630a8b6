"""The size of an image by the header of its file, which tells what it costs to decode. The server reads no more of an
untrusted file than these few bytes.
"""

import binascii
from typing import Literal

# The most bytes that are read of a file. Of a JPEG, the size may follow behind a preview and a color profile.
_HEADER = 1 << 18

# A JPEG has tens of segments before its frame. More aren't read, as the event loop waits meanwhile.
_MOST_SEGMENTS = 1000

_JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}


def pixels_of(file: bytes | str) -> int | None:
    """Returns the number of pixels of an image in a file, given as its bytes or their base64; None if it isn't known.
    It is what the file says, which may be wrong.
    """
    try:
        return _pixels(file[:_HEADER] if isinstance(file, bytes) else _beginning(file[:_HEADER]))
    except (ValueError, IndexError):
        return None


def _beginning(base64: str) -> bytes:
    characters = "".join(base64.split())
    return binascii.a2b_base64(characters[: len(characters) // 4 * 4])


def _pixels(data: bytes) -> int | None:
    if data.startswith(b"\x89PNG"):
        return _product(data, 16, 20, 4, "big")
    if data.startswith(b"GIF8"):
        return _product(data, 6, 8, 2, "little")
    if data.startswith(b"BM"):
        return _product(data, 18, 22, 4, "little")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _pixels_of_webp(data)
    return _pixels_of_jpeg(data) if data.startswith(b"\xff\xd8") else None


def _pixels_of_webp(data: bytes) -> int | None:
    match data[12:16]:
        case b"VP8X":
            return (1 + _number(data, 24, 3, "little")) * (1 + _number(data, 27, 3, "little"))
        case b"VP8L":
            bits = _number(data, 21, 4, "little")
            return (1 + (bits & 0x3FFF)) * (1 + (bits >> 14 & 0x3FFF))
        case b"VP8 ":
            return (_number(data, 26, 2, "little") & 0x3FFF) * (_number(data, 28, 2, "little") & 0x3FFF)
    return None


def _pixels_of_jpeg(data: bytes) -> int | None:
    at = 2
    for _ in range(_MOST_SEGMENTS):
        if data[at + 1] in _JPEG_FRAMES:
            return _product(data, at + 5, at + 7, 2, "big")
        at += 1 if data[at + 1] == 0xFF else 2 + max(2, _number(data, at + 2, 2, "big"))
    return None


def _product(data: bytes, first: int, second: int, size: int, order: Literal["big", "little"]) -> int:
    return abs(_number(data, first, size, order) * _number(data, second, size, order))


def _number(data: bytes, start: int, size: int, order: Literal["big", "little"]) -> int:
    if start + size > len(data):
        raise IndexError
    return int.from_bytes(data[start : start + size], order, signed=size == 4 and order == "little")
