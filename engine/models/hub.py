"""Models of the Hugging Face hub, through its own library: its cache, its tokens and its environment variables."""

import io
import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from huggingface_hub import constants, get_cached_repo_tree, get_session, snapshot_download
from huggingface_hub.errors import (
    CachedRepoTreeNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    IncompleteSnapshotError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from tqdm.auto import tqdm

from specvino.engine.chat_template.files import FOLDERS as TEMPLATE_FOLDERS
from specvino.engine.errors import ModelLoadError, UnusableModel
from specvino.engine.models import checkpoint
from specvino.engine.models.folder import FILES, LANGUAGE_MODEL, VISION_FILES, open_folder, read_json, unusable
from specvino.engine.models.resuming import LARGE, resume
from specvino.engine.models.source import ModelSource
from specvino.engine.progress import Report, say_nothing

_CONFIG = "config.json"
_PART_OF_SEVERAL = re.compile(r"-\d{5}-of-\d{5}$")

# Our errors replace the library's warnings.
logging.getLogger("huggingface_hub").setLevel(logging.ERROR)


def fetch(id: str, quantization: str | None, revision: str | None, report: Report) -> ModelSource:
    """Returns a model of the hub. Files missing from the library's cache are downloaded.

    `quantization` selects one of a repository's GGUF files. `revision` is a branch, a tag or a commit, by default the
    main branch. If the hub can't be reached, the cache is used without an update. Raises ModelLoadError.
    """
    repository = _Repository(id, revision)
    folder = repository.snapshot([], None, _bars(0, say_nothing))
    sizes = repository.files(folder)
    if not is_servable(list(sizes)) and _CONFIG in sizes:
        # It says what would work.
        folder = repository.snapshot([_CONFIG], folder.name, _bars(0, say_nothing))
    files, gguf = needed_files(id, list(sizes), quantization, folder / _CONFIG)
    folder = repository.download({file: sizes[file] for file in files}, folder, report)
    if gguf is None:
        return open_folder(folder)
    from specvino.engine.models.gguf_file import open_gguf  # slow to import, and rarely needed

    return open_gguf(folder / gguf)


def fetch_checkpoint(id: str, revision: str | None, report: Report) -> Path:
    """Returns the folder of a checkpoint of the hub. Files missing from the library's cache are downloaded, unless it
    can't be converted. Raises ModelLoadError."""
    repository = _Repository(id, revision)
    folder = repository.snapshot([], None, _bars(0, say_nothing))
    sizes = repository.files(folder)
    folder = repository.snapshot([_CONFIG], folder.name, _bars(0, say_nothing))
    checkpoint.require(id, list(sizes), read_json(folder / _CONFIG))
    return repository.download({file: size for file, size in sizes.items() if checkpoint.is_part(file)}, folder, report)


class _Repository:
    def __init__(self, id: str, revision: str | None) -> None:
        self._id = id
        self._revision = revision

    def snapshot(self, files: Sequence[str], commit: str | None, bars: type[Any]) -> Path:
        """Downloads these files of a commit and returns its folder. Raises ModelLoadError."""
        _end_silent_requests()
        try:
            return Path(
                snapshot_download(
                    self._id,
                    revision=commit or self._revision,
                    library_name="specvino",
                    allow_patterns=[_literally(file) for file in files],
                    tqdm_class=bars,
                )
            )
        except Exception as error:
            # The library also raises the errors of its HTTP client.
            raise _kind(error)(f"{self._id}: {self._reason(error, begun=commit is not None)}") from error

    def resume(self, sizes: Mapping[str, int], folder: Path, read: Callable[[int], None]) -> int:
        """Downloads the large ones of these files of a commit, whose folder is given. Returns their size in bytes; the
        others are left. Raises ModelLoadError.
        """
        done, blobs = 0, folder.parents[1] / "blobs"
        if constants.HF_HUB_OFFLINE:
            return done
        try:
            for file, size in sizes.items():
                if size >= LARGE:
                    resume(self._id, folder.name, file, size, blobs, _after(done, read))
                    done += size
        except (HfHubHTTPError, LocalEntryNotFoundError):
            pass  # the library tells it better
        except Exception as error:
            raise _kind(error)(f"{self._id}: {self._reason(error, begun=True)}") from error
        return done

    def download(self, sizes: Mapping[str, int], folder: Path, report: Report) -> Path:
        """Downloads those of these files of a commit, whose folder is given, that the cache doesn't have. Raises
        ModelLoadError."""
        left = {file: size for file, size in sizes.items() if not (folder / file).exists()}
        if not left:
            return folder
        total = sum(left.values())
        done = self.resume(left, folder, partial(_downloading, report, total))
        return self.snapshot(list(sizes), folder.name, _bars(total, report, done))

    def files(self, folder: Path) -> dict[str, int]:
        """Returns the file sizes of a commit; for one downloaded by an older version of the library, only of files in
        the cache.
        """
        try:
            tree = get_cached_repo_tree(self._id, revision=folder.name)
            return {file.path: file.size for file in tree}
        except CachedRepoTreeNotFoundError:
            here = [file for file in folder.rglob("*") if file.is_file()]
            return {file.relative_to(folder).as_posix(): file.stat().st_size for file in here}

    def _reason(self, error: Exception, *, begun: bool) -> str:
        hub = constants.ENDPOINT
        match error:
            case HFValidationError():
                return "there is no such folder, and it can't be the id of a model on the Hugging Face hub"
            case RevisionNotFoundError():
                return f"the hub {hub} has no revision {self._revision!r} of it"
            case GatedRepoError():
                return (
                    f"it is gated: ask for access at {hub}/{self._id}, and give a token of yours, by HF_TOKEN or "
                    "`hf auth login`"
                )
            case HfHubHTTPError() if _is_unknown(error):
                return (
                    f"there is no such folder, and on the hub {hub} no such model, or it is private: then give a token "
                    "that may read it, by HF_TOKEN or `hf auth login`"
                )
            case HfHubHTTPError():
                return f"the hub {hub} answered with the status {error.response.status_code}"
            case IncompleteSnapshotError() | LocalEntryNotFoundError():
                part = "only a part of it is" if begun or isinstance(error, IncompleteSnapshotError) else "it isn't"
                revision = f" at the revision {self._revision!r}" if self._revision else ""
                cache = f"{part} in the Hugging Face cache ({constants.HF_HUB_CACHE}){revision}"
                return f"there is no such folder, and {cache}; {_why_not_reached(error)}"
            case OSError() if error.strerror:
                return f"it can't be downloaded: {error.strerror} ({constants.HF_HUB_CACHE})"
            case _:
                return f"the download from {hub} was interrupted ({_one_line(error)}); rerun to resume it"


def _kind(error: Exception) -> type[ModelLoadError]:
    wrong = (HFValidationError, RevisionNotFoundError, GatedRepoError)
    is_wrong = isinstance(error, wrong) or (isinstance(error, HfHubHTTPError) and _is_unknown(error))
    return UnusableModel if is_wrong else ModelLoadError


def _is_unknown(error: HfHubHTTPError) -> bool:
    """Returns whether a repository is missing or private: without a token the hub answers 401 in both cases."""
    return isinstance(error, RepositoryNotFoundError) or error.response.status_code == 401


def _why_not_reached(error: Exception) -> str:
    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE keeps it from being downloaded"
    cause = error.__cause__
    if isinstance(cause, HfHubHTTPError):
        return f"the hub {constants.ENDPOINT} answered with the status {cause.response.status_code}"
    return f"the hub {constants.ENDPOINT} can't be reached ({_one_line(cause or error)})"


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _end_silent_requests() -> None:
    """Gives the library's requests for lists of files the time limit of its downloads. Without one, a hub that accepts
    a connection and sends nothing holds a pull forever (huggingface_hub 2.4.0 `list_repo_tree` has no `timeout`, and
    `snapshot_download` passes none to `repo_info`; this goes when both have one)."""
    hooks = get_session().event_hooks["request"]
    if _limit not in hooks:
        hooks.append(_limit)


def _limit(request: Any) -> None:
    if (limits := request.extensions["timeout"])["read"] is None:
        request.extensions["timeout"] = dict.fromkeys(limits, constants.HF_HUB_DOWNLOAD_TIMEOUT)


def _literally(file: str) -> str:
    """Returns the pattern that matches this name alone."""
    return re.sub(r"([*?\[])", r"[\1]", file)


def is_servable(files: Sequence[str]) -> bool:
    """Returns whether a repository has a model in OpenVINO's format or a GGUF file, as far as one name shows that."""
    return LANGUAGE_MODEL in files or FILES[0] in files or any(map(_is_gguf, files))


def needed_files(
    id: str, files: Sequence[str], quantization: str | None, config: Path = Path(_CONFIG)
) -> tuple[list[str], str | None]:
    """Returns the files of a repository that a model needs, and the GGUF file if it is one. Raises ModelLoadError; its
    config.json, if it is there, says what would work.
    """
    ggufs = [file for file in files if _is_gguf(file)]
    if quantization is not None:
        ggufs = [file for file in ggufs if _quantization(file).endswith(f"-{quantization.lower()}")]
        if not ggufs:
            raise UnusableModel(f"{id}: none of its files is a GGUF file of {quantization}: {_named(files)}")
    elif LANGUAGE_MODEL in files or FILES[0] in files or not ggufs:
        needed = VISION_FILES if LANGUAGE_MODEL in files else FILES
        missing = next((file for file in needed if file not in files), None)
        if missing is not None:
            raise UnusableModel(f"{id}: {unusable(id, files, read_json(config), missing)}")
        beside = [file for file in files if _is_beside(file)]
        return sorted({file for file in files if file.startswith("openvino_")} | set(beside)), None
    if len(ggufs) > 1:
        raise UnusableModel(f"{id}: has several GGUF files; name one as in {id}:Q4_K_M: {_named(ggufs)}")
    if _PART_OF_SEVERAL.search(PurePosixPath(ggufs[0]).stem):
        raise UnusableModel(f"{id}: {ggufs[0]} is a part of a GGUF file, and OpenVINO reads complete ones only")
    return ggufs, ggufs[0]


def _is_beside(file: str) -> bool:
    """Returns whether a file in the repository's root folder belongs to the model: settings and chat templates."""
    folder, _, name = file.rpartition("/")
    return name.endswith((".json", ".jinja") if not folder else ".jinja") and folder in ("", *TEMPLATE_FOLDERS)


def _is_gguf(file: str) -> bool:
    path = PurePosixPath(file)
    # Vision models have their vision encoder in a second file.
    return path.suffix.lower() == ".gguf" and not path.name.startswith("mmproj")


def _quantization(file: str) -> str:
    """Returns the lower-case name of a file, with hyphens for dots: ...-q4_k_m."""
    stem = _PART_OF_SEVERAL.sub("", PurePosixPath(file).stem)
    return "-" + stem.lower().replace(".", "-")


def _named(files: Sequence[str]) -> str:
    ggufs = sorted(file for file in files if _is_gguf(file))
    return ", ".join(ggufs) or "it has no GGUF file"


def _after(before: int, read: Callable[[int], None]) -> Callable[[int], None]:
    return lambda done: read(before + done)


def _downloading(report: Report, total: int, done: int) -> None:
    report("downloading the model", min(done, total), total)


def _bars(total: int, report: Report, before: int = 0) -> type[Any]:
    """Returns a class of progress bars, of which the library creates several; it reports their progress, beyond the
    bytes that were there `before`."""
    lock = threading.Lock()
    most = 0

    class Bar(tqdm):  # type: ignore[misc]  # tqdm has no types
        # No thread that redraws slow bars: tqdm 4.70.1 starts it while it holds the lock that `__del__` of an earlier
        # bar takes, so a garbage collection in the new thread is a deadlock (ten of some hundred pulls). Goes when tqdm
        # starts it without the lock.
        monitor_interval = 0

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "file": io.StringIO()})

        def update(self, n: float | None = 1) -> bool | None:
            nonlocal most
            shown: bool | None = super().update(n)
            if self.unit == "B":
                with lock:
                    # One bar counts received bytes, another one counts written bytes.
                    most = max(most, before + int(self.n))
                    _downloading(report, total, most)
            return shown

    return Bar
