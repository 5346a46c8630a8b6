"""Plain images and files of them."""

import base64
from io import BytesIO
from typing import Any

from models.tiny_vision_lessons import COLOURS
from PIL import Image

from specvino.engine.request import Conversation, Message, PlacedImage
from specvino.engine.request import Image as Pixels


def file(colour: str, size: tuple[int, int] = (40, 30), format: str = "PNG", **options: Any) -> bytes:
    """An image file of one colour."""
    return saved(Image.new("RGB", size, COLOURS[colour]), format, **options)


def saved(image: Image.Image, format: str = "PNG", **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def data_url(content: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def pixels(colour: str, size: tuple[int, int] = (40, 30)) -> Pixels:
    return Pixels(*size, bytes(COLOURS[colour]) * (size[0] * size[1]))


def showing(text: str, *colours: str) -> Conversation:
    """A user's turn with images of these colours before the text."""
    content = "\n" * len(colours) + text
    placed = tuple(PlacedImage(at, pixels(colour)) for at, colour in enumerate(colours))
    return Conversation((Message("user", content, images=placed),))
