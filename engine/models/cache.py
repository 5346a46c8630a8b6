"""The cache folder of models: what is in it, whether that is unchanged, and whether a process uses it."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from platformdirs import user_cache_path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.catalogue import CATALOGUE

# The checksums of a model's files, as `sha256sum --check` reads them. A full or failing disk may truncate or change a
# file, and OpenVINO doesn't detect it: a model with changed weights loads and generates nonsense.
CHECKSUMS = "SHA256SUMS"

# The description of a conversion in its folder.
ORIGIN = "specvino.json"

# Folders that are being made or removed. A process that is killed leaves them.
UNFINISHED = ".unfinished-"

_INDEX = "digests.json"
_MOST_DIGESTS = 1000
_CHUNK = 1 << 24  # bytes


def cache_folder() -> Path:
    """Returns the folder of pulled and converted models; the environment variable SPECVINO_CACHE moves it."""
    return Path(os.environ.get("SPECVINO_CACHE") or user_cache_path("specvino"))


@contextlib.contextmanager
def readable() -> Iterator[None]:
    """Raises ModelLoadError if the cache folder can't be read, such as a volume of another user."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}; SPECVINO_CACHE names another folder"
        raise ModelLoadError(f"the cache folder {cache_folder()} can't be used: {reason}") from error


def conversions_folder() -> Path:
    """Returns the folder of conversions: of GGUF files, checkpoints, and models with adapters."""
    return cache_folder() / "converted"


class InUse:
    """A folder of the cache that this process uses until `release`: nobody removes it. The system releases it if the
    process dies.
    """

    def __init__(self, path: Path) -> None:
        """Raises OSError if there is no such folder."""
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH)
            if not os.path.samestat(os.fstat(self._descriptor), path.stat()):
                raise FileNotFoundError(2, "was removed meanwhile", str(path))
            with contextlib.suppress(OSError):  # a read-only cache
                os.utime(self._descriptor)  # the time of its last use
        except BaseException:
            os.close(self._descriptor)
            raise

    def release(self) -> None:
        os.close(self._descriptor)


def use(path: Path) -> InUse | None:
    """Keeps a model from being removed, if it is in the cache folder. Raises ModelLoadError if it was removed."""
    if not path.absolute().is_relative_to(cache_folder().absolute()):
        return None
    try:
        return InUse(path)
    except OSError as error:
        raise ModelLoadError(f"{path}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Entry:
    """A model in the cache. `source` is where it is from: a package, the path of a GGUF file, or a checkpoint. `used`
    is the time of its last use, in seconds since the epoch.
    """

    path: Path
    source: str
    bytes: int
    used: float
    in_use: bool

    @property
    def name(self) -> str:
        return self.path.name

    def remove(self) -> bool:
        """Removes it; returns False, and leaves it, if a process uses it. Raises OSError."""
        with _locked(self.path) as free:
            if not free:
                return False
            # The first step takes it away as a whole.
            with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=self.path.parent) as removed:
                self.path.rename(Path(removed) / "model")
        return True


def entries() -> list[Entry]:
    """Returns what is in the cache, the most recently used first. Raises ModelLoadError."""
    with readable():
        for folder in (cache_folder(), conversions_folder()):
            with contextlib.suppress(FileNotFoundError):
                os.scandir(folder).close()  # glob ignores errors
        pulled = [
            _entry(folder, f"PyPI: {model.package}")
            for model in CATALOGUE.values()
            for folder in cache_folder().glob(f"{model.name}-*")
            if (folder / CHECKSUMS).is_file()
        ]
        converted = [
            _entry(file.parent, origin.source)
            for file in conversions_folder().glob(f"[!.]*/{ORIGIN}")
            if (origin := Origin.of(file.parent))
        ]
    entries = [entry for entry in (*pulled, *converted) if entry]
    return sorted(entries, key=lambda entry: -entry.used)


@dataclass(frozen=True, slots=True)
class Origin:
    """The source of a conversion, such as the path of a GGUF file, and its SHA-256."""

    source: str
    sha256: str

    @classmethod
    def of(cls, folder: Path) -> Self | None:
        try:
            return cls(**json.loads((folder / ORIGIN).read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        (folder / ORIGIN).write_text(json.dumps({"source": self.source, "sha256": self.sha256}) + "\n", "utf-8")


def remove_unfinished(folder: Path) -> None:
    """Removes what killed processes left there. The caller has to keep others from working in the folder."""
    for leftover in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover, ignore_errors=True)


class Digests:
    """SHA-256 digests of files. A file whose size, times and inode are those of a known one isn't read again.

    A `folder` has the known ones; if it can't be written, none are remembered.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / _INDEX

    def digest(self, file: Path, read: Callable[[int, int], None] = lambda done, total: None) -> str:
        """Returns the hexadecimal digest. `read` is called with the number of bytes that were read, and that of all.
        Raises OSError, and ModelLoadError if the file changes meanwhile.
        """
        with file.open("rb", buffering=0) as opened:
            before = os.fstat(opened.fileno())
            identity = _identity(before)
            if known := self._known().get(identity):
                return known
            digest, done = hashlib.sha256(), 0
            while chunk := opened.read(_CHUNK):
                digest.update(chunk)
                done += len(chunk)
                read(min(done, before.st_size), before.st_size)
            if _identity(os.fstat(opened.fileno())) != identity:
                raise ModelLoadError("it is being changed by another program")
        self._remember(identity, digest.hexdigest())
        return digest.hexdigest()

    def _known(self) -> dict[str, str]:
        try:
            known = json.loads(self._file.read_bytes())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _remember(self, identity: str, digest: str) -> None:
        known = self._known() | {identity: digest}
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            # As a whole: another process may read it, or write it at the same time.
            with tempfile.NamedTemporaryFile("w", dir=self._file.parent, prefix=".", delete=False) as new:
                json.dump(dict(list(known.items())[-_MOST_DIGESTS:]), new)
            Path(new.name).replace(self._file)


def write_checksums(folder: Path, digest: Callable[[Path], str] | None = None) -> None:
    """Writes the checksums of all files in a folder."""
    digest = digest or _digest
    files = [file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != CHECKSUMS]
    lines = [f"{digest(file)}  {file.relative_to(folder).as_posix()}\n" for file in files]
    (folder / CHECKSUMS).write_text("".join(lines), "utf-8")


def checksums_are_right(folder: Path, digest: Callable[[Path], str] | None = None) -> bool:
    """Returns whether a folder has checksums, and all files that they name exist and are unchanged."""
    digest = digest or _digest
    try:
        lines = (folder / CHECKSUMS).read_text("utf-8").splitlines()
        return bool(lines) and all(digest(folder / name) == right for right, _, name in map(_parts, lines))
    except (OSError, UnicodeDecodeError):
        return False


def _entry(folder: Path, source: str) -> Entry | None:
    """Returns None for a folder that is being removed."""
    try:
        size = sum(file.stat().st_size for file in folder.rglob("*"))
        used = folder.stat().st_mtime
        with _locked(folder) as free:
            return Entry(folder, source, size, used, in_use=not free)
    except OSError:
        return None


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    """Yields whether no process uses the folder, and keeps it so. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    else:
        yield True
    finally:
        os.close(descriptor)


def _identity(stat: os.stat_result) -> str:
    # The last one changes with the content, whatever a program sets the others to.
    return ":".join(map(str, (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)))


def _parts(line: str) -> tuple[str, str, str]:
    return line.partition("  ")


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
