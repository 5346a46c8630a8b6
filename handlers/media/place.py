"""Texts and images of one message, put together before any image is read."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from specvino.engine.request import Image, Message, PlacedImage
from specvino.handlers.media.source import ImageSource


@dataclass(frozen=True, slots=True)
class PlacedSource:
    """An image that stands before the character number `at` of its message's content, or at its end."""

    at: int
    source: ImageSource


@dataclass(frozen=True, slots=True)
class MessageDraft:
    """A message whose `images` are still to be read; `message` is without them."""

    message: Message
    images: tuple[PlacedSource, ...] = ()

    def with_images(self, images: Iterable[Image]) -> Message:
        """Returns the message with an image for each of its sources."""
        if not self.images:
            return self.message
        placed = zip(self.images, images, strict=True)
        return replace(self.message, images=tuple(PlacedImage(source.at, image) for source, image in placed))


def place(parts: Iterable[str | ImageSource]) -> tuple[str, tuple[PlacedSource, ...]]:
    """Returns the parts' text, a line for each part, and the images with their places in it."""
    lines: list[str] = []
    images: list[PlacedSource] = []
    at = 0
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
            at += len(part)
        else:
            lines.append("")
            images.append(PlacedSource(at, part))
        at += 1  # for the end of the line
    return "\n".join(lines), tuple(images)
