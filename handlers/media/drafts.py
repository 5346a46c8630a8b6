"""Messages whose images are still to be read: where each image comes from, and its position in the text."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from specvino.engine.request import Image, Message, PlacedImage
from specvino.generated import models
from specvino.handlers.fields import or_none


@dataclass(frozen=True, slots=True)
class ImageSource:
    """The URL of an image, and `param`, the dotted path of the part that contains it; `detail` as in requests."""

    param: str
    url: str
    detail: str | None


@dataclass(frozen=True, slots=True)
class PlacedSource:
    """An image that stands before character `at` of its message's content, or at its end."""

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


def source(param: str, url: str | models.ImageUrl, detail: str | None = None) -> ImageSource:
    """Returns the image source of a part. A `detail` in the URL's object takes precedence."""
    if isinstance(url, str):
        return ImageSource(param, url, detail)
    return ImageSource(param, url.url, or_none(url.detail) or detail)


def place(parts: Iterable[str | ImageSource]) -> tuple[str, tuple[PlacedSource, ...]]:
    """Returns the text of the parts, one line per part, and the images with their positions in it."""
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
