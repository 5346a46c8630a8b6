"""The rules for images in requests: the operator's settings, the limits, and the errors."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from specvino.engine.errors import WrongInput
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

# A name or an IPv4 address; names in other scripts are written as browsers send them (xn--...).
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")

# Per image file, as in OpenVINO Model Server.
MAX_BYTES = 20_000_000

# Per request: more would take gigabytes of memory, or too much of the server's time, for one client.
MAX_IMAGES = 64
MAX_PIXELS = 1 << 25

# Per request, before images are scaled down: eleven photographs of twelve million pixels, which take two seconds to
# decode.
MAX_DECODED_PIXELS = 1 << 27

# The longest side of an image, in pixels, by `detail`: larger images are scaled down for the model.
LONGEST_SIDES = {"low": 512, "high": 2048}

# For all images of a request, in seconds.
FETCH_SECONDS = 30.0


class MediaError(WrongInput):
    """The settings are invalid; `str()` is the reason in one line."""


@dataclass(frozen=True, slots=True)
class MediaSettings:
    """The allowed sources of images. By default only data URLs in the request are allowed. `domains` are the hosts that
    images may be fetched from; the single entry `all` stands for every host with a public address. `folder` is the
    folder of local files, including its subfolders.
    """

    domains: tuple[str, ...] = ()
    folder: Path | None = None

    @classmethod
    def parse(cls, domains: Iterable[str], folder: Path | None) -> "MediaSettings":
        """Parses the options of a command line, where an entry may be several names separated by commas. Raises
        MediaError.
        """
        names = [name.strip() for entry in domains for name in entry.split(",")]
        for name in names:
            if not _HOST.fullmatch(name):
                raise MediaError(f"{name!r} is not a host to fetch images from; give a name such as images.example.com")
        return cls(tuple(names), folder)


class MediaRefused(Exception):
    """A rejected image. `str()` is a sentence for the client; it never quotes another server or a file."""

    code = ErrorCode.INVALID_IMAGE

    def at(self, param: str) -> ApiError:
        """Returns the error that names the part with the image."""
        return ApiError(self.code, str(self), param=param)


class InvalidImage(MediaRefused):
    """The image exists, but can't be read."""


class InvalidUrl(MediaRefused):
    """The URL is invalid, or its host or path isn't allowed."""

    code = ErrorCode.INVALID_IMAGE_URL


class DownloadFailed(MediaRefused):
    """The image's server didn't return it."""

    code = ErrorCode.FAILED_TO_DOWNLOAD_IMAGE
