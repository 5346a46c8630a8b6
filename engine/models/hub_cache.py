"""Models that Hugging Face's own tools have downloaded before. Nothing is downloaded from there by us."""

import os
import re
from pathlib import Path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.folder import missing_files

_MODEL_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def find_snapshot(model_id: str) -> Path | None:
    """Returns the folder of a model in the cache (the commit of `main`, else the newest), or None if it isn't there.

    Raises ModelLoadError if the model is there, but no snapshot of it is in OpenVINO's format.
    """
    if not _MODEL_ID.fullmatch(model_id):
        return None
    model = _cache_folder() / ("models--" + model_id.replace("/", "--"))
    snapshots = [folder for folder in model.glob("snapshots/*") if folder.is_dir()]
    if not snapshots:
        return None
    usable = [folder for folder in snapshots if not missing_files(folder)]
    if not usable:
        raise ModelLoadError(
            f"{model_id}: is in the Hugging Face cache, but not in OpenVINO's format"
            f" ({missing_files(snapshots[0])[0]} is missing): convert it with"
            f" 'optimum-cli export openvino --model {model_id} FOLDER' and give the folder"
        )
    main = model / "refs" / "main"
    commit = main.read_text().strip() if main.is_file() else None
    return max(usable, key=lambda folder: (folder.name == commit, folder.stat().st_mtime))


def _cache_folder() -> Path:
    environ = os.environ
    home = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(environ.get("HF_HUB_CACHE") or Path(environ.get("HF_HOME") or home / "huggingface") / "hub")
