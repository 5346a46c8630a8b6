"""The pixels of an image file. The file is a stranger's: what its header says is checked before a pixel is made."""

import binascii
from io import BytesIO

from PIL import Image, ImageOps, UnidentifiedImageError

from specvino.engine import request
from specvino.engine.openvino.messages.images import Decode, Decoded, ImageRefused, StartImageProcess
from specvino.engine.openvino.native.error_output import one_line
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")

# Of the largest photographs that phones take; three bytes each are in memory while a file is read.
MAX_PIXELS = 50_000_000

# Of a side to the other: models enlarge an image until its shorter side suits them, and a line would fill the memory.
MAX_RATIO = 100

# We have a limit of our own, and Pillow's is lower.
Image.MAX_IMAGE_PIXELS = None


class ImageError(ValueError):
    """The image can't be taken; `str()` is a sentence for the client."""


def decode(file: bytes, longest_side: int, most_pixels: int = MAX_PIXELS, *, base64: bool = False) -> request.ReadImage:
    """Returns the upright picture in a file, made smaller if one of its sides has more than `longest_side` pixels.

    `most_pixels` is how many may be decoded for it. `base64` says that the file's bytes are encoded so. Of a moving
    picture it is the first frame; what is transparent becomes white. Raises ImageError.
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
        raise ImageError("The data is no PNG, JPEG, WebP, GIF or BMP image.") from None
    except Exception:  # on a damaged file a decoder fails with whatever its next step happens to raise
        raise ImageError("The image is damaged.") from None
    picture.thumbnail((longest_side, longest_side))
    return request.ReadImage(request.Image(picture.width, picture.height, picture.tobytes()), pixels)


def _check(width: int, height: int) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(f"The image has {width} x {height} pixels; accepted are {MAX_PIXELS:,}.")
    if max(width, height) > MAX_RATIO * min(width, height):
        raise ImageError(
            f"The image has {width} x {height} pixels; a side may be {MAX_RATIO} times as long as the other."
        )


def _from_base64(text: bytes) -> bytes:
    try:
        return binascii.a2b_base64(b"".join(text.split()), strict_mode=True)
    except ValueError:
        raise ImageError("The image's data is not valid base64.") from None


def _opaque(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        # Grey in 16 bits; Pillow would cut off at 255 what is brighter.
        return image.convert("I").point(lambda value: value / 256).convert("L").convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    colours = image.convert("RGBA")
    white = Image.new("RGB", image.size, "white")
    white.paste(colours, mask=colours.getchannel("A"))
    return white


def answer(question: Decode) -> Decoded | ImageRefused:
    try:
        read = decode(question.file, question.longest_side, question.most_pixels, base64=question.base64)
    except ImageError as error:
        return ImageRefused(question.id, str(error))
    return Decoded(question.id, read.image, read.pixels)


def work(channel: BlockingChannel) -> None:
    channel.receive()
    channel.send(Ready())
    while True:
        channel.send(answer(channel.receive()))


if __name__ == "__main__":
    child.run(StartImageProcess | Decode, work, one_line)
