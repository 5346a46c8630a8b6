"""Texts and images of one message, put together before any image is read."""

from collections.abc import Iterable
from dataclasses import dataclass

from specvino.engine.request import Message
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
