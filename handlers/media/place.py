"""Texts and images of one message, put together."""

from collections.abc import Iterable

from specvino.engine.request import Image, PlacedImage


def place(parts: Iterable[str | Image]) -> tuple[str, tuple[PlacedImage, ...]]:
    """The parts on a line each: their text, and the images with their places in it."""
    lines: list[str] = []
    images: list[PlacedImage] = []
    at = 0
    for part in parts:
        if isinstance(part, str):
            lines.append(part)
            at += len(part)
        else:
            lines.append("")
            images.append(PlacedImage(at, part))
        at += 1  # for the end of the line
    return "\n".join(lines), tuple(images)
