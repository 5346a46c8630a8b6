"""What the header of an image file says, whole, cut and hostile."""

import base64

import pytest
from PIL import Image
from support.images import file, saved

from specvino.engine.openvino.client.image_size import pixels_of


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_the_size_is_that_of_the_image(format: str) -> None:
    data = file("red", (300, 70), format)
    assert pixels_of(data) == 300 * 70
    assert pixels_of(base64.b64encode(data).decode()) == 300 * 70
    assert pixels_of(base64.encodebytes(data).decode()) == 300 * 70  # in lines


def test_every_kind_of_webp() -> None:
    image = Image.effect_noise((300, 70), 50)
    for settings, kind in (({}, b"VP8 "), ({"lossless": True}, b"VP8L"), ({"exif": b"Exif"}, b"VP8X")):
        data = saved(image.convert("RGB"), "WEBP", **settings)
        assert data[12:16] == kind
        assert pixels_of(data) == 300 * 70


def test_a_jpeg_with_a_preview() -> None:
    data = file("red", (300, 70), "JPEG")
    preview = b"\xff\xe1\xff\xff" + file("blue", (40, 30), "JPEG").ljust(0xFFFD, b"\0")
    assert pixels_of(data[:2] + preview * 3 + data[2:]) == 300 * 70
    assert pixels_of(data[:2] + preview * 5 + data[2:]) is None  # behind what is read


def test_what_cannot_be_read_has_no_size() -> None:
    for format in ("PNG", "JPEG", "WEBP", "GIF", "BMP"):
        data = file("red", (300, 70), format)
        for end in range(30):
            assert pixels_of(data[:end]) in (None, 300 * 70)
    for text in ("", "é" * 8, "\ud800" * 8, "AAAA", "a"):
        assert pixels_of(text) is None
    assert pixels_of(b"\xff\xd8" + b"\xff" * 500_000) is None


def test_few_segments_of_a_jpeg_are_read() -> None:
    data, comment = file("red", (300, 70), "JPEG"), b"\xff\xfe\x00\x02"
    assert pixels_of(data[:2] + comment * 900 + data[2:]) == 300 * 70
    assert pixels_of(data[:2] + comment * 2000 + data[2:]) is None
