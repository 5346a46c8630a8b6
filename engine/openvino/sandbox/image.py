"""The image process: it decodes one image file after the other.

The files are untrusted: the header is checked before any pixel is decoded. The process doesn't need OpenVINO, so it
starts quickly when the first image arrives.
"""

import binascii
from io import BytesIO

from PIL import Image, ImageOps, UnidentifiedImageError

from specvino.engine import request
from specvino.engine.openvino.messages.images import MAX_PIXELS, Decode, Decoded, ImageRefused, StartImageProcess
from specvino.engine.openvino.native.error_output import one_line
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")


# Pillow's own limit is lower than ours.
Image.MAX_IMAGE_PIXELS = None


class ImageError(ValueError):
    """The image can't be decoded; `str()` is a sentence for the client."""


def decode(file: bytes, longest_side: int, most_pixels: int = MAX_PIXELS, *, base64: bool = False) -> request.ReadImage:
    """Returns the image in a file, upright, scaled down if a side has more than `longest_side` pixels. At most
    `most_pixels` may be decoded for it. With `base64` the bytes are the file's base64. An animation is reduced to its
    first frame; transparent pixels become white. Raises ImageError.
    """
    data = _from_base64(file) if base64 else file
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as image:
            _check(*image.size)
            # JPEG can be decoded at a half, a quarter or an eighth of its size, which is much faster.
            image.draft("RGB", (longest_side, longest_side))
            pixels = image.width * image.height
            if pixels > most_pixels:
                raise ImageError(
                    f"The image has {pixels:,} pixels to decode; the request may have {most_pixels:,} more."
                )
            picture = _opaque(ImageOps.exif_transpose(image))
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError("The data isn't a PNG, JPEG, WebP, GIF or BMP image.") from None
    except Exception:  # decoders raise all kinds of errors for damaged files
        raise ImageError("The image is damaged.") from None
    picture.thumbnail((longest_side, longest_side))
    return request.ReadImage(request.Image(picture.width, picture.height, picture.tobytes()), pixels)


def _check(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(f"The image has {width} x {height} pixels; at most {MAX_PIXELS:,} are allowed.")
    if max(width, height) > request.MAX_IMAGE_RATIO * min(width, height):
        raise ImageError(
            f"The image has {width} x {height} pixels; a side may be {request.MAX_IMAGE_RATIO} times as long as the "
            "other."
        )


def _from_base64(text: bytes) -> bytes:
    try:
        return binascii.a2b_base64(b"".join(text.split()), strict_mode=True)
    except ValueError:
        raise ImageError("The image's data is not valid base64.") from None


def _opaque(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        # 16-bit grayscale, which Pillow would clip at 255.
        return image.convert("I").point(lambda value: value / 256).convert("L").convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    colors = image.convert("RGBA")
    white = Image.new("RGB", image.size, "white")
    white.paste(colors, mask=colors.getchannel("A"))
    return white


def answer(question: Decode) -> Decoded | ImageRefused:
    try:
        decoded = decode(question.file, question.longest_side, question.most_pixels, base64=question.base64)
    except ImageError as error:
        return ImageRefused(question.id, str(error))
    return Decoded(question.id, decoded.image, decoded.pixels)


def work(channel: BlockingChannel) -> None:
    channel.receive()
    channel.send(Ready())
    while True:
        channel.send(answer(channel.receive()))


if __name__ == "__main__":
    child.run(StartImageProcess | Decode, work, one_line)
