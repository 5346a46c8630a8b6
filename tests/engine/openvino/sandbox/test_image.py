"""Image files, whole and hostile."""

import base64
import struct
import zlib

import numpy
import pytest
from PIL import Image
from support.images import file, saved

from specvino.engine import request
from specvino.engine.openvino.messages.images import MAX_PIXELS
from specvino.engine.openvino.sandbox import image
from specvino.engine.openvino.sandbox.image import ImageError

RED = (220, 20, 20)


def decode(data: bytes, longest_side: int, *, base64: bool = False) -> request.Image:
    return image.decode(data, longest_side, base64=base64).image


def first_pixel(data: bytes) -> tuple[int, ...]:
    return tuple(decode(data, 2048).rgb[:3])


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_formats(format: str) -> None:
    image = decode(file("red", (40, 30), format), 2048)
    assert (image.width, image.height, len(image.rgb)) == (40, 30, 40 * 30 * 3)
    assert tuple(image.rgb[:3]) == pytest.approx(RED, abs=3)


def test_base64() -> None:
    text = base64.encodebytes(file("red"))  # in lines
    assert decode(text, 2048, base64=True) == decode(file("red"), 2048)


def test_what_is_transparent_is_white() -> None:
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    assert first_pixel(saved(clear)) == (255, 255, 255)
    assert first_pixel(saved(clear.convert("LA"))) == (255, 255, 255)
    half = Image.new("RGBA", (4, 4), (255, 0, 0, 128))
    assert first_pixel(saved(half)) == pytest.approx((255, 127, 127), abs=1)


def test_kinds_of_colours() -> None:
    red = Image.new("RGB", (4, 4), RED)
    assert first_pixel(saved(red.quantize(4))) == pytest.approx(RED, abs=3)
    assert first_pixel(saved(red.convert("CMYK"), "JPEG")) == pytest.approx(RED, abs=3)
    assert first_pixel(saved(Image.new("L", (4, 4), 80))) == (80, 80, 80)
    grey = Image.fromarray(numpy.full((4, 4), 40_000, numpy.uint16))
    assert first_pixel(saved(grey)) == (156, 156, 156)


def test_a_photograph_lies_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by a quarter
    image = decode(file("red", (40, 30), "JPEG", exif=exif), 2048)
    assert (image.width, image.height) == (30, 40)


@pytest.mark.parametrize(
    ("size", "side", "expected"),
    [
        ((40, 30), 40, (40, 30)),
        ((40, 30), 20, (20, 15)),
        ((3000, 100), 512, (512, 17)),
        ((100, 1), 20, (20, 1)),
        ((2, 2), 512, (2, 2)),
    ],
)
@pytest.mark.parametrize("format", ["PNG", "JPEG"])
def test_large_images_become_smaller(size: tuple[int, int], side: int, expected: tuple[int, int], format: str) -> None:
    image = decode(file("red", size, format), side)
    assert (image.width, image.height) == expected
    assert len(image.rgb) == image.width * image.height * 3


def test_of_a_moving_picture_the_first_frame() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    assert first_pixel(saved(frames[0], "GIF", save_all=True, append_images=frames[1:])) == (255, 0, 0)


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width: int, height: int) -> bytes:
    """A file of a few hundred bytes, whatever its size in pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(100))) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("width", "height"), [(100_000, 100_000), (2**31 - 1, 1), (MAX_PIXELS + 1, 1)])
def test_too_many_pixels_are_refused_by_the_header(width: int, height: int) -> None:
    with pytest.raises(ImageError, match="pixels"):
        decode(png(width, height), 2048)


@pytest.mark.parametrize(("format", "pixels"), [("PNG", 1600 * 1200), ("JPEG", 400 * 300)])
def test_what_is_decoded_is_counted_and_bounded(format: str, pixels: int) -> None:
    """JPEG is decoded at a quarter of its size where that is enough."""
    data = file("red", (1600, 1200), format)
    read = image.decode(data, 300, pixels)
    assert (read.image.width, read.pixels) == (300, pixels)
    with pytest.raises(ImageError, match=f"has {pixels:,} pixels to decode; the request may have {pixels - 1:,} more"):
        image.decode(data, 300, pixels - 1)


@pytest.mark.parametrize("size", [(101, 1), (20, 2001)])
def test_lines_are_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ImageError, match="100 times"):
        decode(file("red", size), 2048)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "isn't a PNG"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "isn't a PNG"),
        (b"<html>", "isn't a PNG"),
        (b"%PDF-1.7", "isn't a PNG"),
        (saved(Image.new("RGB", (4, 4)), "TIFF"), "isn't a PNG"),
        (saved(Image.new("RGB", (4, 4)), "EPS"), "isn't a PNG"),
        (file("red")[:60], "damaged"),
        (file("red")[:-30], "damaged"),
        (file("red", format="JPEG")[:200], "damaged|isn't a PNG"),
        (file("red", format="WEBP")[:40], "damaged|isn't a PNG"),
        (png(10, 10), "damaged"),
        (png(0, 10), "damaged|isn't a PNG"),
    ],
)
def test_what_is_no_image(data: bytes, reason: str) -> None:
    with pytest.raises(ImageError, match=reason):
        decode(data, 2048)


@pytest.mark.parametrize("text", ["AAA", "A A=A", "NOT_VALID!!!", "é", "=AAA"])
def test_what_is_no_base64(text: str) -> None:
    with pytest.raises(ImageError, match="base64"):
        decode(text.encode(), 2048, base64=True)
