"""Names of a client package, and how its files get onto the disk."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LICENSE = Path(__file__).parent / "LICENSE.txt"


class PackageError(Exception):
    """A package can't be made; `str()` says why."""


class TargetError(PackageError):
    """The folder can't be used."""


@dataclass(frozen=True, slots=True)
class Package:
    """`dialect` is None for the client of this project's server; `title` names the system."""

    dialect: str | None
    title: str
    version: str

    @property
    def name(self) -> str:
        return f"specvino-client-{self.dialect}" if self.dialect else "specvino-client"

    @property
    def module(self) -> str:
        return re.sub(r"\W", "_", self.name)


def describe(dialect: str | None, document: dict[str, Any]) -> Package:
    title = document["info"]["title"].split(":")[0]
    return Package(dialect, title, document["info"]["version"])


def write(files: dict[str, str], target: Path) -> None:
    """Makes the folder and the files. Raises TargetError, before anything is written, where it holds something else."""
    if target.is_dir():
        known = {Path(name).parts[0] for name in files}
        if strange := sorted(each.name for each in target.iterdir() if each.name not in known):
            raise TargetError(f"{target} holds {strange[0]}, which is no part of the package: name an empty folder")
    try:
        for name, text in files.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TargetError(f"{error.filename or target} can't be written: {error.strerror}") from None
