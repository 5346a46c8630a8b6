"""Resolves MODEL on the command line to a local model."""

import re
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from specvino.engine.errors import UnusableModel
from specvino.engine.models.adapter import adapter_file, read_adapter
from specvino.engine.models.catalogue import CATALOGUE, DEFAULT
from specvino.engine.models.checkpoint import require
from specvino.engine.models.folder import open_folder, read_json
from specvino.engine.models.pull import pull
from specvino.engine.models.source import ModelSource
from specvino.engine.progress import Report, say_nothing

# As in llama.cpp and vLLM, the quantization of a GGUF file may follow the id.
_ON_HUB = re.compile(r"(?P<id>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(:(?P<quantization>[\w.-]+))?")


def resolve(model: str | None, report: Report = say_nothing, revision: str | None = None) -> ModelSource:
    """Returns a model; one from the catalogue or the Hugging Face hub is pulled if necessary. None is the default
    model. `revision` is a revision on the hub. The lookup order is: a name of the catalogue (use ./NAME for a folder of
    that name), an OpenVINO folder, a .gguf file, a model id on the hub. Raises ModelLoadError.
    """
    name = DEFAULT if model is None else model
    if not name:  # such as an unset variable of a shell, which Path takes for the working folder
        raise UnusableModel("the model's name is empty")
    path = Path(name)
    on_hub = None if path.exists() or path.suffix.lower() == ".gguf" else _ON_HUB.fullmatch(name)
    if on_hub:
        from specvino.engine.models import hub  # importing the library takes a third of a second

        return hub.fetch(on_hub["id"], on_hub["quantization"], revision, report)
    if revision is not None:
        raise UnusableModel(f"{name}: --revision {revision!r} applies only to models of the Hugging Face hub")
    if name in CATALOGUE:
        source = open_folder(pull(CATALOGUE[name], report))
        return replace(source, defaults={**CATALOGUE[name].defaults, **source.defaults})
    if path.is_dir():
        return open_folder(path)
    if path.suffix.lower() == ".gguf":
        from specvino.engine.models.gguf_file import open_gguf  # importing gguf and numpy takes a fifth of a second

        return open_gguf(path)
    if path.exists():
        raise UnusableModel(f"{path}: is neither an OpenVINO folder nor a .gguf file")
    near = get_close_matches(name, CATALOGUE, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UnusableModel(
        f"{name}: no such model; {hint}give an OpenVINO folder, a .gguf file, the id of a model on the"
        f" Hugging Face hub (ORG/NAME), or one of: {', '.join(CATALOGUE)}"
    )


def checkpoint_folder(model: str, report: Report = say_nothing, revision: str | None = None) -> Path:
    """Returns the folder of a checkpoint of transformers: one on this machine, or a model id on the hub, of which it is
    downloaded. Raises ModelLoadError."""
    path = Path(model)
    if path.is_dir():
        if revision is not None:
            raise UnusableModel(f"{model}: --revision {revision!r} doesn't apply to a folder")
        require(model, [file.name for file in path.iterdir()], read_json(path / "config.json"))
        return path
    on_hub = _ON_HUB.fullmatch(model)
    if on_hub is None or on_hub["quantization"]:
        raise UnusableModel(f"{model}: give the folder of a checkpoint, or the id of one on the Hugging Face hub")
    from specvino.engine.models import hub  # importing the library takes a third of a second

    return hub.fetch_checkpoint(on_hub["id"], revision, report)


def with_adapter(source: ModelSource, path: Path) -> ModelSource:
    """Returns a model with a LoRA adapter: a folder of PEFT, or its .safetensors file. Raises ModelLoadError."""
    file = adapter_file(path)
    read_adapter(file)
    if source.vision:
        raise UnusableModel(f"{path}: {source.path} is a vision-language model, to which no adapter can be applied")
    return replace(source, adapter=file)
