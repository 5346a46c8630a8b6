"""Downloads of large files of the hub that go on where a killed pull ended: huggingface_hub resumes within a process
only (decision 080).
"""

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from huggingface_hub import get_hf_file_metadata, get_session, get_token, hf_hub_url

# Smaller files are left to the library.
LARGE = 10 * 10**6

# Above this the hub has no plain downloads (`MAX_HTTP_DOWNLOAD_SIZE` of the library).
_LARGEST = 50 * 10**9

_CHUNK = 1 << 20
_ATTEMPTS = 5
_PAUSE = 1.0  # seconds
_SHA256 = re.compile(r"[0-9a-f]{64}")


def resume(id: str, commit: str, file: str, size: int, blobs: Path, read: Callable[[int], None]) -> None:
    """Downloads a file of `size` bytes into the library's cache, which has the contents of files in `blobs`, by their
    ETags. What an earlier call has downloaded is kept. `read` is called with the number of bytes that are there.

    Does nothing if the library has to do it: the file is small or is there, or the hub doesn't answer as expected.
    Raises OSError, and the errors of the library's client if the connection breaks repeatedly.
    """
    if not LARGE <= size <= _LARGEST:
        return
    url = hf_hub_url(id, file, revision=commit)
    etag = get_hf_file_metadata(url, token=get_token(), library_name="specvino").etag
    if not etag or (blobs / etag).exists():
        return
    blobs.mkdir(parents=True, exist_ok=True)
    part = blobs / f"{etag}.specvino.incomplete"
    with part.open("ab") as target:
        fcntl.flock(target, fcntl.LOCK_EX)  # another pull of the file
        target.seek(0, os.SEEK_END)  # which may have written meanwhile
        if (blobs / etag).exists():
            return
        if _complete(url, target, size, read) and _is_right(part, etag):
            part.rename(blobs / etag)
        else:
            part.unlink()


def _complete(url: str, target: BinaryIO, size: int, read: Callable[[int], None]) -> bool:
    """Appends what is missing. Returns False if the hub doesn't answer as expected."""
    headers = {"Authorization": f"Bearer {token}"} if (token := get_token()) else {}
    attempts = 0
    while (start := target.tell()) < size:
        read(start)
        own = {"Range": f"bytes={start}-", "Accept-Encoding": "identity"}
        try:
            with get_session().stream("GET", url, headers=headers | own, follow_redirects=True) as response:
                if response.status_code == 200:  # without the range
                    target.truncate(0)
                    start = target.seek(0)
                elif not response.headers.get("content-range", "").startswith(f"bytes {start}-"):
                    return False
                for chunk in response.iter_bytes(_CHUNK):
                    target.write(chunk)
                    read(target.tell())
        except OSError:
            raise
        except Exception:  # the client's errors
            attempts = 0 if target.tell() > start else attempts + 1
            if attempts == _ATTEMPTS:
                raise
            time.sleep(_PAUSE)
        else:
            if target.tell() == start:
                return False
    target.flush()  # the content is checked in the file
    return target.tell() == size


def _is_right(file: Path, etag: str) -> bool:
    """Returns whether a large file, whose ETag is its SHA-256, has the right content."""
    if not _SHA256.fullmatch(etag):
        return True
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == etag
