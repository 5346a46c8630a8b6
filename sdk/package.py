"""The names of a client package, and writing its files."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

LICENSE = Path(__file__).parent / "LICENSE.txt"

# A file in a package that names the others, by which a package that may be replaced is known.
MADE = ".specvino-client"


# Where examples look for a server of one's own.
OWN_SERVER = "http://127.0.0.1:8000"


class PackageError(Exception):
    """A package can't be generated; `str()` is the reason."""


class TargetError(PackageError):
    """The folder for a package can't be used."""


@dataclass(frozen=True, slots=True)
class Package:
    """The target of a generated client package.

    `dialect` is None for the client of this server, or of any document; `title` names the system. Its examples
    use `url` and `model`, and the environment variable `key` if the service needs a key.
    """

    dialect: str | None
    title: str
    version: str
    url: str
    key: str | None
    model: str | None
    name: str

    @property
    def module(self) -> str:
        return re.sub(r"\W", "_", self.name)


def describe(dialect: str | None, document: dict[str, Any]) -> Package:
    title = document["info"]["title"].removeprefix("The OpenAI-compatible API of ")
    hosted = document.get("x-dialect", {}).get("hosted", {})
    return Package(
        dialect,
        title,
        document["info"]["version"],
        hosted.get("url", f"{OWN_SERVER}{document['servers'][0]['url']}"),
        hosted.get("key"),
        hosted.get("model"),
        f"specvino-client-{dialect.replace('@', '-')}" if dialect else "specvino-client",
    )


def named(package: Package, name: str | None, version: str | None) -> Package:
    """Returns the package with a name and a version of its own. Raises PackageError."""
    if name is not None and not re.fullmatch(r"[a-z]([a-z0-9-]{0,98}[a-z0-9])?", name):
        raise PackageError(f"--name {name}: use small letters, digits and hyphens, beginning with a letter")
    if version is not None and not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise PackageError(f"--version {version}: use three numbers, such as 1.2.0")
    return replace(package, name=name or package.name, version=version or package.version)


def write(files: dict[str, str], target: Path) -> None:
    """Writes the folder and the files, replacing those of an earlier package there; other files in it stay.

    Raises TargetError, before anything is written, if the folder contains something else.
    """
    made = target / MADE
    try:
        if target.is_dir() and any(target.iterdir()) and not made.is_file():
            raise TargetError(f"{target} contains something else than a client package; choose an empty folder")
        for name in made.read_text("utf-8").splitlines() if made.is_file() else ():
            if name not in files and ".." not in Path(name).parts and not Path(name).is_absolute():
                (target / name).unlink(missing_ok=True)
        for name, text in {**files, MADE: "".join(f"{name}\n" for name in files)}.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TargetError(f"{error.filename or target} can't be written: {error.strerror}") from None
