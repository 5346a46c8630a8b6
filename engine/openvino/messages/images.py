"""Images between processes: the messages of the image process, pixels in pieces, and tags in prompts.

The pipeline of a vision-language model takes the prompt as a text with a tag for each image, and tokenizes it itself.
So user text can't be protected by separate tokenization (`special_token_escaping.py`). Where it contains a control
token or a tag, an invisible character is inserted; the rest of the text is unchanged (decision 019).
"""

import re
from collections.abc import Iterator
from dataclasses import replace

import msgspec

from specvino.engine.request import Image

# The size of the largest phone photographs. A pixel takes three bytes while a file is read.
MAX_PIXELS = 50_000_000


class StartImageProcess(msgspec.Struct, tag=True):
    """The first message to the image process."""


class Decode(msgspec.Struct, tag=True):
    """A request to decode an image file, or its base64, with at most `most_pixels` decoded pixels."""

    id: int
    file: bytes
    base64: bool
    longest_side: int
    most_pixels: int


class Decoded(msgspec.Struct, tag=True):
    """A decoded image; `pixels` is how many were decoded for it."""

    id: int
    image: Image
    pixels: int


class ImageRefused(msgspec.Struct, tag=True):
    """The file can't be decoded; `reason` is a sentence for the client."""

    id: int
    reason: str


# Images are sent in chunks: one message of many megabytes would block the event loop too long.
PIECE_BYTES = 1 << 20


def in_pieces(image: Image) -> Iterator[tuple[Image, bool]]:
    """Yields the image with a chunk of its pixels each time, and whether more follow."""
    for start in range(0, max(1, len(image.rgb)), PIECE_BYTES):
        end = start + PIECE_BYTES
        yield replace(image, rgb=image.rgb[start:end]), end < len(image.rgb)


class ChunkJoiner:
    """Joins the chunks of images, by a key for each image."""

    def __init__(self) -> None:
        self._pieces: dict[int, list[bytes]] = {}

    def add(self, key: int, piece: Image, more: bool) -> Image | None:
        """Returns the complete image after its last chunk, None before."""
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


JOINER = "\u2060"

# GenAI's tags, and those of models whose tags aren't special tokens.
_TAGS = re.compile(r"<(?=ov_genai_[a-z]+_\d+>|image>|\|image_\d+\|>)")

_OURS = re.compile(r"<ov_genai_image_\d+>")


def image_tag(number: int) -> str:
    """Returns the tag of the image with this number, from 0, in the list that is passed to the pipeline."""
    return f"<ov_genai_image_{number}>"


def without_image_tags(text: str) -> str:
    """Returns the text of a prompt without image tags."""
    return _OURS.sub("", text)


def break_image_tags(text: str) -> str:
    """Returns the text with an invisible character in everything that the pipeline would parse as a tag."""
    return _TAGS.sub(f"<{JOINER}", text)
