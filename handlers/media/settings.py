"""Where images may come from, and how much of them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# A name or an IPv4 address; names in other scripts are written as browsers send them (xn--...).
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?")


class MediaError(Exception):
    """The settings make no sense; `str()` says why in one line."""


@dataclass(frozen=True, slots=True)
class MediaSettings:
    """What isn't allowed here is refused: by itself a request can only hold its images, as data URLs.

    `domains` are the hosts that images are fetched from; the single entry `all` stands for every host with a public
    address. `folder` is where local files are read, with what lies below it.
    """

    domains: tuple[str, ...] = ()
    folder: Path | None = None

    @classmethod
    def parse(cls, domains: Iterable[str], folder: Path | None) -> "MediaSettings":
        """Reads a command line, where an entry may be several with commas. Raises MediaError."""
        names = [name.strip() for entry in domains for name in entry.split(",")]
        for name in names:
            if not _HOST.fullmatch(name):
                raise MediaError(f"{name!r} is no host to fetch images from: give a name like images.example.com")
        return cls(tuple(names), folder)


# Of one image's file, as OpenVINO Model Server has it.
MAX_BYTES = 20_000_000

# Of one request: more of either would take gigabytes, or the server's time, for one client.
MAX_IMAGES = 64
MAX_PIXELS = 1 << 25

# Of one request, before its images are made smaller: as many as eleven photographs of twelve million pixels. They take
# two seconds to decode.
MAX_DECODED_PIXELS = 1 << 27

# The longest side of an image, in pixels, by `detail`: larger images are scaled down for the model.
LONGEST_SIDES = {"low": 512, "high": 2048}

# For all images of a request, in seconds.
FETCH_SECONDS = 30.0
