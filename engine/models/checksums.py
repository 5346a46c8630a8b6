"""The checksums of a pulled model's files: `SHA256SUMS`, as `sha256sum --check` reads it.

A file may be cut or changed after it was written well, by a full or failing disk, and OpenVINO doesn't see it: a model
with changed weights loads, and answers nonsense. Looking takes a fraction of what loading takes.
"""

import hashlib
from pathlib import Path

NAME = "SHA256SUMS"


def write(folder: Path) -> None:
    """Writes the checksums of all files in a folder."""
    lines = [f"{_digest(file)}  {file.name}\n" for file in sorted(folder.iterdir()) if file.name != NAME]
    (folder / NAME).write_text("".join(lines), "utf-8")


def are_right(folder: Path) -> bool:
    """Returns whether a folder has checksums, and all files that they name are there and as they were."""
    try:
        lines = (folder / NAME).read_text("utf-8").splitlines()
        return bool(lines) and all(_digest(folder / name) == digest for digest, _, name in map(_parts, lines))
    except (OSError, UnicodeDecodeError):
        return False


def _parts(line: str) -> tuple[str, str, str]:
    return line.partition("  ")


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
