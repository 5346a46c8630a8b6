"""Which images a request may have: the operator's settings, the limits, and the refusals of other images."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

# A name or an IPv4 address; names in other scripts are written as browsers send them (xn--...).
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")

# Of one image's file, as in OpenVINO Model Server.
MAX_BYTES = 20_000_000

# Of one request: more of either would take gigabytes of memory, or too much of the server's time, for one client.
MAX_IMAGES = 64
MAX_PIXELS = 1 << 25

# Of one request, before its images are scaled down: eleven photographs of twelve million pixels, which take two seconds
# to decode.
MAX_DECODED_PIXELS = 1 << 27

# The longest side of an image, in pixels, by `detail`: larger images are scaled down for the model.
LONGEST_SIDES = {"low": 512, "high": 2048}

# For all images of a request, in seconds.
FETCH_SECONDS = 30.0


class MediaError(Exception):
    """The settings are invalid; `str()` is the reason in one line."""


@dataclass(frozen=True, slots=True)
class MediaSettings:
    """Where images may come from. By default a request can only contain its images, as data URLs.

    `domains` are the hosts that images are fetched from; the single entry `all` stands for every host with a public
    address. `folder` is where local files are read, with its subfolders.
    """

    domains: tuple[str, ...] = ()
    folder: Path | None = None

    @classmethod
    def parse(cls, domains: Iterable[str], folder: Path | None) -> "MediaSettings":
        """Reads the options of a command line, where an entry may be several names with commas. Raises MediaError."""
        names = [name.strip() for entry in domains for name in entry.split(",")]
        for name in names:
            if not _HOST.fullmatch(name):
                raise MediaError(f"{name!r} is not a host to fetch images from; give a name such as images.example.com")
        return cls(tuple(names), folder)


class MediaRefused(Exception):
    """A refused image. `str()` is a sentence for the client; it never quotes another server or a file."""

    code = ErrorCode.INVALID_IMAGE

    def at(self, param: str) -> ApiError:
        """Returns the error that names the part with the image."""
        return ApiError(self.code, str(self), param=param)


class InvalidImage(MediaRefused):
    """The image was found, but can't be read."""


class InvalidUrl(MediaRefused):
    """The URL is invalid, or its host or path isn't allowed."""

    code = ErrorCode.INVALID_IMAGE_URL


class DownloadFailed(MediaRefused):
    """The image's server didn't return it."""

    code = ErrorCode.FAILED_TO_DOWNLOAD_IMAGE
