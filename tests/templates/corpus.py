"""The chat templates of real models, from the source package of llama-cpp-python, which has llama.cpp's in it.

Nothing of it is ours to give on: the templates lie in the user's cache only.
"""

import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from specvino.engine.models.cache import cache_folder

PACKAGE = "llama-cpp-python"
VERSION = "0.3.36"

_INSIDE = "/vendor/llama.cpp/models/templates/"
_SUFFIX = ".jinja"


@cache
def corpus() -> dict[str, str]:
    """Returns the templates by name. Downloads the package (77 MB) if they aren't in the cache."""
    folder = cache_folder() / "templates" / f"{PACKAGE}-{VERSION}"
    if not folder.exists():
        _fill(folder)
    files = sorted(folder.glob(f"*{_SUFFIX}"), key=lambda file: file.stem.lower())
    return {file.stem: file.read_text("utf-8") for file in files}


def _fill(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
        downloads, work = Path(parent, "downloads"), Path(parent, "work")
        work.mkdir()
        # pip asks the package for its metadata, which needs its build backend: the environment has that.
        options = ["--no-binary=:all:", "--no-build-isolation", "--no-deps", "--disable-pip-version-check", "--quiet"]
        command = [sys.executable, "-m", "pip", "download", *options, f"--dest={downloads}", f"{PACKAGE}=={VERSION}"]
        subprocess.run(command, check=True)
        (archive,) = downloads.iterdir()
        with tarfile.open(archive) as members:
            for member in members:
                _, _, name = member.name.partition(_INSIDE)
                if name.endswith(_SUFFIX) and (content := members.extractfile(member)):
                    Path(work, name).write_bytes(content.read())
        try:
            work.rename(folder)
        except OSError:  # another run was faster
            assert folder.exists()
