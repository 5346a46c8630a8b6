"""Images that cost, and that lie elsewhere."""

from functools import cache
from typing import Any

from PIL import Image
from support.images import data_url, file, saved

from soak.hostile.attacker import Attack, Attacker


@cache
def _large() -> str:
    return data_url(saved(Image.new("L", (7000, 7000))))


@cache
def _bomb() -> str:
    return data_url(saved(Image.new("1", (30_000, 30_000)), optimize=True))


async def large_images(attacker: Attacker) -> None:
    await attacker.chat("large images", messages=_showing(*[_large()] * 20))


async def a_bomb(attacker: Attacker) -> None:
    await attacker.chat("a bomb", messages=_showing(_bomb()))


async def no_images(attacker: Attacker) -> None:
    png = file("red")
    for content in (b"", b"GIF89a", png[:-20], b"\x89PNG\r\n\x1a\n" + b"\xff" * 1000):
        await attacker.chat("no images", messages=_showing(data_url(content)))


async def images_elsewhere(attacker: Attacker) -> None:
    for url in (
        "http://127.0.0.1:1/a.png",
        "http://[::ffff:127.0.0.1]/a",
        "file:///etc/passwd",
        "http://169.254.169.254/",
    ):
        await attacker.chat("images elsewhere", messages=_showing(url))


async def many_images(attacker: Attacker) -> None:
    await attacker.chat("many images", messages=_showing(*[data_url(file("blue", (400, 400)))] * 12), leave_at=5.0)


def _showing(*urls: str) -> list[dict[str, Any]]:
    parts = [{"type": "image_url", "image_url": {"url": url, "detail": "low"}} for url in urls]
    return [{"role": "user", "content": [*parts, {"type": "text", "text": "What is it?"}]}]


ATTACKS: tuple[Attack, ...] = (large_images, a_bomb, no_images, images_elsewhere, many_images)
