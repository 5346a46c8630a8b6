"""From MODEL, as given on the command line, to a model that is at hand."""

from pathlib import Path

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.catalogue import CATALOGUE, DEFAULT
from specvino.engine.models.folder import open_folder
from specvino.engine.models.gguf_file import open_gguf
from specvino.engine.models.hub_cache import find_snapshot
from specvino.engine.models.pull import Report, pull, say_nothing
from specvino.engine.models.source import ModelSource


def resolve(model: str | None, report: Report = say_nothing) -> ModelSource:
    """Finds a model; one of the catalogue is pulled if it isn't there yet. None is the default model.

    Looked up in this order: a name of the catalogue (write ./NAME for a folder of that name), an OpenVINO
    folder, a .gguf file, the id of a model in the local Hugging Face cache. Raises ModelLoadError.
    """
    name = DEFAULT if model is None else model
    if name in CATALOGUE:
        return open_folder(pull(CATALOGUE[name], report))
    path = Path(name)
    if path.is_dir():
        return open_folder(path)
    if path.suffix.lower() == ".gguf":
        return open_gguf(path)
    if path.exists():
        raise ModelLoadError(f"{path}: is neither an OpenVINO folder nor a .gguf file")
    snapshot = find_snapshot(name)
    if snapshot is not None:
        return open_folder(snapshot)
    raise ModelLoadError(
        f"{name}: no such model; give an OpenVINO folder, a .gguf file, the id of a model in the local"
        f" Hugging Face cache, or one of: {', '.join(CATALOGUE)}"
    )
