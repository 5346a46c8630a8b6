"""Takes the pictures of the README and of link previews: `tox run -e docs -- tests/browser/pictures.py`.

They have 128 colors, so that each is smaller than 80 kB.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from support.examples import ROOT
from support.serving import serving

PLACES = {
    "matrix": ROOT / "docs" / "images" / "matrix.png",
    "chat": ROOT / "docs" / "images" / "chat.png",
    "card": ROOT / "portal" / "assets" / "card.png",
}


def test_the_pictures(address: str, node: Callable[..., list[dict[str, Any]]], tmp_path: Path) -> None:
    with serving("smollm2") as server:
        node("pictures.mjs", address, server.url.removesuffix("v1"), str(tmp_path))
    for name, place in PLACES.items():
        with Image.open(tmp_path / f"{name}.png") as picture:
            place.parent.mkdir(exist_ok=True)
            picture.convert("RGB").quantize(128).save(place, optimize=True)
        assert place.stat().st_size < 80_000, name
