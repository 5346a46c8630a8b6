"""Checkpoints of transformers: their files, and the command that converts them, which is optimum-intel's."""

import re
import shutil
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from specvino.engine.chat_template.files import FOLDERS as TEMPLATE_FOLDERS
from specvino.engine.errors import UnusableModel
from specvino.engine.models.folder import never_servable

# The weights have these names in transformers 5.2 (`SAFE_WEIGHTS_NAME`, and its shards); a repository may have others
# for other programs.
_WEIGHTS = re.compile(r"model(-\d+-of-\d+)?\.safetensors")
_BESIDE = (".json", ".jinja", ".model", ".txt")

_VISION = "vision_config"


def is_part(file: str) -> bool:
    """Returns whether a file of a repository belongs to its checkpoint."""
    folder, _, name = file.rpartition("/")
    if folder:
        return folder in TEMPLATE_FOLDERS and name.endswith(".jinja")
    return name.endswith(_BESIDE) or _WEIGHTS.fullmatch(name) is not None


def parts(folder: Path) -> dict[str, Path]:
    """Returns the files of a checkpoint on this machine, by their names in the folder."""
    files = {file.relative_to(folder).as_posix(): file for file in sorted(folder.rglob("*")) if file.is_file()}
    return {name: file for name, file in files.items() if is_part(name)}


def require(model: str, files: Collection[str], config: Mapping[str, object]) -> None:
    """Raises ModelLoadError for what can't be converted, or needn't be, as far as its config.json and the names of its
    files show. `model` is its name."""
    if reason := never_servable(files, config):
        raise UnusableModel(f"{model}: is no checkpoint of a model that can be served{reason}")
    if any(map(_WEIGHTS.fullmatch, files)) and config:
        return
    if any(file.lower().endswith(".gguf") or file.startswith("openvino_") for file in files):
        raise UnusableModel(f"{model}: has files that can be served as they are: leave out --convert")
    raise UnusableModel(f"{model}: is no checkpoint of transformers: config.json or model.safetensors is missing")


def optimum_cli() -> str:
    """Returns the path of optimum-cli: that of this environment, else one on the PATH, which may have an environment of
    its own. Raises ModelLoadError."""
    beside = Path(sys.executable).with_name("optimum-cli")
    command = str(beside) if beside.is_file() else shutil.which("optimum-cli")
    if command is None:
        raise UnusableModel(
            "converting a checkpoint requires optimum-intel: install it by pip install 'optimum-intel[openvino]', here "
            "or in an environment whose optimum-cli is on the PATH"
        )
    return str(Path(command).absolute())


def export_arguments(checkpoint: Path, config: Mapping[str, object], weights: str, folder: Path) -> list[str]:
    """Returns the arguments with which optimum-cli writes an OpenVINO folder, those of optimum-intel 2.2. `weights` is
    its `--weight-format`. Code that comes with a checkpoint isn't run."""
    task = "image-text-to-text" if _VISION in config else "text-generation-with-past"
    model = ["--model", str(checkpoint), "--task", task, "--library", "transformers"]
    return ["export", "openvino", *model, "--weight-format", weights, str(folder)]
