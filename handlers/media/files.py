"""Images in local files, below the one folder that the operator opened."""

import os
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

from specvino.handlers.media.rules import MAX_BYTES, InvalidImage, InvalidUrl


def read(url: str, folder: Path) -> bytes:
    """Returns the bytes of a file, given as a file: URL or as a path, absolute or relative to the folder.

    Raises MediaRefused. This function blocks.
    """
    path = _below(folder, url)
    try:
        # The path was resolved, so a link at this point was created later. Opening a pipe must not wait for its writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidImage("The image's file can't be read.") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise InvalidImage("The image's path is not a regular file.")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_BYTES:
        raise InvalidImage(f"The image is larger than {MAX_BYTES:,} bytes.")
    return data


def _below(folder: Path, url: str) -> Path:
    try:
        resolved = (folder / _path(url)).resolve()
    except (OSError, RuntimeError, ValueError) as error:  # circular links, a NUL
        raise InvalidUrl("The image's path can't be resolved.") from error
    if not resolved.is_relative_to(folder.resolve()):
        raise InvalidUrl("The image's path is outside the folder that this server reads images from.")
    return resolved


def _path(url: str) -> str:
    if url[:5].lower() != "file:":
        return url
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise InvalidUrl("A file: URL can't name another host.")
    return unquote(parts.path)
