"""The messages between the server and the image process."""

import msgspec

from specvino.engine.request import Image


class StartImageProcess(msgspec.Struct, tag=True):
    """Is the first message to the image process."""


class Decode(msgspec.Struct, tag=True):
    """Asks for the picture in an image file, or in its base64, of which at most `most_pixels` may be decoded."""

    id: int
    file: bytes
    base64: bool
    longest_side: int
    most_pixels: int


class Decoded(msgspec.Struct, tag=True):
    """Carries a picture; `pixels` is how many were decoded for it."""

    id: int
    image: Image
    pixels: int


class ImageRefused(msgspec.Struct, tag=True):
    """Says that there is no picture to be had; `reason` is a sentence for the client."""

    id: int
    reason: str
