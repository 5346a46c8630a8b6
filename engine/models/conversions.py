"""The cache of converted models, keyed by content: OpenVINO folders of GGUF files, and of models with adapters."""

import contextlib
import fcntl
import hashlib
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.adapter import CONFIG
from specvino.engine.models.cache import (
    UNFINISHED,
    Digests,
    InUse,
    Origin,
    checksums_are_right,
    conversions_folder,
    entries,
    remove_unfinished,
    use,
    write_checksums,
)
from specvino.engine.models.checkpoint import export_arguments, optimum_cli, parts
from specvino.engine.models.folder import missing_files, open_folder, read_json
from specvino.engine.models.pull import convert, run
from specvino.engine.models.source import ModelSource
from specvino.engine.processes.memory import memory
from specvino.engine.progress import Report, say_nothing

LIMIT = 50 * 10**9
"""The maximum total size of conversions in bytes: the least recently used ones are removed for a new one, except those
in use."""

# The size of a conversion with OpenVINO GenAI 2026.4.1 is at most 1.26 times that of the GGUF file (Q6_K; Q4_0 0.92,
# F16 1.01), besides the tokenizer.
_TIMES = 1.4
_TOKENIZER = 32 * 10**6

# Peak memory of a conversion with OpenVINO GenAI 2026.4.1, besides the mapped file: 2,396 MB for one of 1,077 MB
# (Q4_0), 1,405 MB for one of 583 (Q8_0).
_MEMORY_TIMES = 2.4

# The program that applies adapters.
_APPLY = "apply_adapter"

# Of this project's own work on conversions: signed weights (decision 087).
_REVISION = 2

# What a model with an adapter may take beyond the files that it is made of.
_SPARE = 32 * 10**6

_WAIT = 0.2  # seconds between two looks at a lock

_log = logging.getLogger(__name__)


class _NoRoom(Exception):
    """The disk has no room for a conversion; `str()` says how much it needs."""


def settled(source: ModelSource, report: Report = say_nothing) -> tuple[ModelSource, InUse | None]:
    """Returns a model in the form in which it is loaded: a GGUF file as its conversion, and a model with an adapter as
    one folder; and its folder in the cache, if it is there, which stays until it is released. Raises as `converted` and
    `adapted`.
    """
    plain, in_cache = _without_gguf(source, report)
    if source.adapter is None:
        return plain, in_cache
    try:
        there = adapted(plain.path, source.adapter, report)
    finally:
        if in_cache:
            in_cache.release()
    return replace(plain, path=there.path, adapter=None), there


def _without_gguf(source: ModelSource, report: Report) -> tuple[ModelSource, InUse | None]:
    if source.path.is_dir():
        return source, use(source.path)
    try:
        there = converted(source.path, report)
    except ModelLoadError as error:
        raise type(error)(f"{source.path}: {error}") from error
    return (replace(source, path=there.path), there) if there else (source, None)


def converted(gguf: Path, report: Report = say_nothing) -> InUse | None:
    """Returns the OpenVINO folder of a GGUF file, which is made unless the cache has it. `report` may raise an
    exception to end the work.

    None means that the cache can't be written, or has no room; the log says why. Raises ModelLoadError if the file
    can't be converted.
    """
    root = conversions_folder()
    digests = Digests(root)
    try:
        sha256 = digests.digest(gguf, lambda done, total: report("reading the GGUF file", done, total))
        origin = Origin(str(gguf.absolute()), sha256)

        def make(model: Path) -> None:
            _convert(gguf, model, origin, digests, report)

        return _kept(root, gguf.stem, origin, digests, report, make)
    except (_NoRoom, OSError) as error:
        reason = f"{error.strerror} ({error.filename or root})" if isinstance(error, OSError) else error
        _log.warning("%s isn't kept in OpenVINO's format, so that every start converts it: %s", gguf, reason)
        return None


def conversion_size(gguf: Path) -> int:
    """Returns how many bytes the conversion of a GGUF file takes at most."""
    return int(gguf.stat().st_size * _TIMES) + _TOKENIZER


def adapted(base: Path, adapter: Path, report: Report = say_nothing) -> InUse:
    """Returns the OpenVINO folder of the model in the folder `base` with an adapter, which is made unless the cache has
    it. Raises ModelLoadError.
    """
    root = conversions_folder()
    digests = Digests(root)
    try:
        if not base.is_dir():
            raise _NoRoom("the cache has no room for the model, or can't be written")
        program = Path(__file__).with_name(f"{_APPLY}.py")  # another version may apply it otherwise
        parts = [*filter(Path.is_file, sorted(base.iterdir())), adapter, adapter.with_name(CONFIG), program]
        read = [digests.digest(part, lambda *read: report("reading the model", *read)) for part in parts]
        origin = Origin(str(adapter.absolute()), hashlib.sha256("".join(read).encode()).hexdigest())

        def apply(model: Path) -> None:
            with _room(model, sum(part.stat().st_size for part in parts) + _SPARE):
                run(f"specvino.engine.models.{_APPLY}", [base, adapter, model], "applying the adapter", report)

        return _kept(root, f"{base.name}-{adapter.parent.name}", origin, digests, report, apply)
    except (_NoRoom, OSError) as error:
        reason = f"{error.strerror} ({error.filename or root})" if isinstance(error, OSError) else error
        raise ModelLoadError(f"{adapter}: can't be applied: {reason}") from error


def exported(checkpoint: Path, model: str, weights: str, report: Report = say_nothing) -> InUse:
    """Returns the OpenVINO folder of a checkpoint, which optimum-cli makes unless the cache has it. `model` is its
    path or its id on the hub, `weights` the type of the weights. Raises ModelLoadError."""
    program = optimum_cli()
    root = conversions_folder()
    digests = Digests(root)
    config = read_json(checkpoint / "config.json")
    files = parts(checkpoint)
    try:
        read = [
            name + digests.digest(file, lambda *read: report("reading the model", *read))
            for name, file in files.items()
        ]
        origin = Origin(f"{model} ({weights})", hashlib.sha256("\n".join([weights, *read]).encode()).hexdigest())

        def export(folder: Path) -> None:
            # None of the formats is larger than the usual 16 bits per weight.
            with _room(folder, sum(file.stat().st_size for file in files.values()) + _TOKENIZER):
                arguments = export_arguments(checkpoint, config, weights, folder)
                run(program, arguments, f"converting the model to {weights}", report)
                if missing := missing_files(folder):
                    raise ModelLoadError(f"optimum-cli wrote no {missing[0]}")
                open_folder(folder)

        return _kept(root, f"{Path(model).name}-{weights}", origin, digests, report, export)
    except (_NoRoom, OSError) as error:
        reason = f"{error.strerror} ({error.filename or root})" if isinstance(error, OSError) else error
        raise ModelLoadError(f"{model}: can't be converted: {reason}") from error
    except ModelLoadError as error:
        raise type(error)(f"{model}: can't be converted: {error}") from error


def _kept(
    root: Path, name: str, origin: Origin, digests: Digests, report: Report, make: Callable[[Path], None]
) -> InUse:
    """Returns the folder of this origin. Unless the cache has it, `make` fills an empty one, which is renamed at the
    end, so it is never visible in an incomplete state. Raises what `make` raises, and OSError.
    """
    if there := _lookup(root, origin.sha256, digests):
        return there
    root.mkdir(parents=True, exist_ok=True)
    with _alone(root, report):
        if there := _lookup(root, origin.sha256, digests):
            return there
        folder = root / _name(name, origin.sha256)
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=root) as work:
            model = Path(work) / "model"
            model.mkdir()
            make(model)
            origin.write(model)
            write_checksums(model, digests.digest)
            _flush(model)
            if folder.exists():  # damaged
                folder.rename(Path(work) / "damaged")
            model.rename(folder)
        return InUse(folder)


def _name(stem: str, sha256: str) -> str:
    """Returns the name of a folder. Another version may convert the file otherwise."""
    plain = re.sub(r"[^\w-]", "_", stem, flags=re.ASCII)[:80]
    return f"{plain}-{_key(sha256)}"


def _key(sha256: str) -> str:
    return f"{sha256[:12]}-{version('openvino-genai')}-{_REVISION}"


def _lookup(root: Path, sha256: str, digests: Digests) -> InUse | None:
    for folder in root.glob(f"[!.]*-{_key(sha256)}"):
        try:
            there = InUse(folder)
        except OSError:
            continue
        origin = Origin.of(folder)
        if (
            origin is not None
            and origin.sha256 == sha256
            and not missing_files(folder)
            and checksums_are_right(folder, digests.digest)
        ):
            return there
        there.release()
    return None


@contextlib.contextmanager
def _alone(root: Path, report: Report) -> Iterator[None]:
    """Allows one process at a time to convert: a conversion takes three times the memory of the file."""
    with (root / ".lock").open("wb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                report("waiting for another conversion", 0, 0)
                time.sleep(_WAIT)
        remove_unfinished(root)
        yield


def _convert(gguf: Path, model: Path, origin: Origin, digests: Digests, report: Report) -> None:
    """Converts the file to the folder `model`. Raises ModelLoadError and _NoRoom."""
    size = gguf.stat().st_size
    peak, free = int(size * _MEMORY_TIMES), memory().available
    if peak > free:
        raise ModelLoadError(
            f"converting it takes {peak / 1e9:.1f} GB of memory, and {free / 1e9:.1f} GB are free; end other programs, "
            "or take the model in OpenVINO's format"
        )
    with _room(model, conversion_size(gguf)):
        # OpenVINO writes beside the link, which the conversion removes; the user's file stays.
        link = model / "model.gguf"
        link.symlink_to(gguf.absolute())
        convert(link, report)
    if digests.digest(gguf) != origin.sha256:
        raise ModelLoadError("it was changed while it was converted")


@contextlib.contextmanager
def _room(model: Path, needed: int) -> Iterator[None]:
    """Makes room for the folder `model` by removing the least recently used conversions. Raises _NoRoom: also if what
    writes the folder fails, and others took the room meanwhile.
    """
    root = model.parents[1]
    old = [entry for entry in entries() if entry.path.parent == root]
    while old and (sum(entry.bytes for entry in old) + needed > LIMIT or shutil.disk_usage(root).free < needed):
        entry = old.pop()
        if entry.remove():
            _log.info("removed %s from the cache, the conversion of %s", entry.name, entry.source)
    if shutil.disk_usage(root).free < needed:
        raise _NoRoom(f"that needs {needed / 1e6:.0f} MB of free space in {root}")
    try:
        yield
    except ModelLoadError as error:
        # OpenVINO's error on a full disk is "iostream error", and it removes some of its files.
        written = sum(file.lstat().st_size for file in model.rglob("*"))
        if shutil.disk_usage(root).free + written < needed:
            raise _NoRoom(f"the disk of {root} became full") from error
        raise


def _flush(folder: Path) -> None:
    """Writes the files to the disk: after a loss of power, a folder that has its final name is complete."""
    for path in (*folder.rglob("*"), folder):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
