"""Gets the sources of a Python package from a folder, or from the package index as a wheel that pip downloads.

Only the wheel's Python files are unpacked. Nothing is installed or run.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from specvino.upstream.described import Unreadable


def cache() -> Path:
    """Returns the folder of unpacked packages; the environment variable SPECVINO_CACHE moves it."""
    if moved := os.environ.get("SPECVINO_CACHE"):
        return Path(moved) / "upstream"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specvino" / "upstream"


def in_folder(source: Path, package: str) -> Path:
    """Returns the folder of a package in a working copy, which may have it in src/ or python/. Raises Unreadable."""
    for folder in (source, source / package, source / "src" / package, source / "python" / package):
        if folder.name == package and (folder / "__init__.py").is_file():
            return folder
    raise Unreadable(f"{source} has no Python package {package}")


def beside(source: Path | None, package: str, version: str, folder: Path) -> Path:
    """Returns the folder of a package that another one uses: from the same folder, or this version, which is installed
    or on the index. Raises Unreadable.
    """
    if source is not None:
        try:
            return in_folder(source, package)
        except Unreadable:
            pass
    installed = importlib.util.find_spec(package)  # it isn't imported
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        if installed is not None and installed.origin is not None and importlib.metadata.version(package) == version:
            return Path(installed.origin).parent
    return from_index(package, version, package, folder)


def from_index(distribution: str, version: str | None, package: str, folder: Path) -> Path:
    """Returns the folder of a package in `folder`, and unpacks its wheel there if needed. Raises Unreadable with a
    short form of pip's error.
    """
    target = folder / f"{distribution}-{version or 'newest'}"
    if not (target / package).is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            requirement = f"{distribution}=={version}" if version else distribution
            unpacked = Path(work) / "unpacked"
            _unpack(_wheel(requirement, Path(work) / "wheel"), package, unpacked)
            shutil.rmtree(target, ignore_errors=True)
            unpacked.rename(target)
    return target / package


def _wheel(requirement: str, folder: Path) -> Path:
    # Not the source distribution, whose code pip would run for its metadata.
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--quiet", "--disable-pip-version-check", f"--dest={folder}", requirement]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        errors = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.startswith("ERROR: ")]
        why = errors[0] if errors else done.stderr.strip().rpartition("\n")[2]
        raise Unreadable(f"pip can't download {requirement}: {why}")
    return wheels[0]


def _unpack(wheel: Path, package: str, folder: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.infolist():
                path = PurePosixPath(member.filename)
                if path.suffix == ".py" and path.parts[0] == package and ".." not in path.parts:
                    archive.extract(member, folder)
    except zipfile.BadZipFile:
        raise Unreadable(f"{wheel.name} isn't a wheel") from None
    if not (folder / package).is_dir():
        raise Unreadable(f"{wheel.name} has no Python package {package}")
