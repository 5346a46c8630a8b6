"""Checkpoints of transformers: their files, and the command that converts them, which is optimum-intel's."""

import shutil
import sys
from collections.abc import Collection, Mapping
from pathlib import Path

from specvino.engine.chat_template.files import FOLDERS as TEMPLATE_FOLDERS
from specvino.engine.errors import ModelLoadError
from specvino.engine.models.folder import SAFETENSORS, has_own_code, never_servable, unusable

# Files of the root folder; others, such as weights for other programs in folders, aren't read.
_FILES = (SAFETENSORS, ".json", ".jinja", ".model", ".txt")

_VISION = "vision_config"


def is_part(file: str) -> bool:
    """Returns whether a file of a repository belongs to its checkpoint."""
    folder, _, name = file.rpartition("/")
    return name.endswith(_FILES) if not folder else folder in TEMPLATE_FOLDERS and name.endswith(".jinja")


def require(model: str, files: Collection[str], config: Mapping[str, object]) -> None:
    """Raises ModelLoadError for what can't be converted, or needn't be. The arguments are those of `unusable`."""
    if any(file.lower().endswith(".gguf") or file.startswith("openvino_") for file in files):
        raise ModelLoadError(f"{model}: has files that can be served as they are: leave out --convert")
    if reason := never_servable(files, config):
        raise ModelLoadError(f"{model}: is no checkpoint of a model that can be served{reason}")
    if not any(is_part(file) and file.endswith(SAFETENSORS) for file in files) or not config:
        raise ModelLoadError(f"{model}: is no checkpoint of transformers: config.json or *.safetensors is missing")
    if has_own_code(config):
        raise ModelLoadError(f"{model}: {unusable(model, files, config, 'openvino_model.xml')}")


def optimum_cli() -> str:
    """Returns the path of optimum-cli: that of this environment, else one on the PATH, which may have an environment of
    its own. Raises ModelLoadError."""
    beside = Path(sys.executable).with_name("optimum-cli")
    found = str(beside) if beside.is_file() else shutil.which("optimum-cli")
    if found is None:
        raise ModelLoadError(
            "converting a checkpoint requires optimum-intel: install it by pip install 'optimum-intel[openvino]', here "
            "or in an environment whose optimum-cli is on the PATH"
        )
    return str(Path(found).absolute())


def export_arguments(checkpoint: Path, config: Mapping[str, object], weights: str, folder: Path) -> list[str]:
    """Returns the arguments with which optimum-cli writes an OpenVINO folder. `weights` is its `--weight-format`."""
    task = "image-text-to-text" if _VISION in config else "text-generation-with-past"
    model = ["--model", str(checkpoint), "--task", task, "--library", "transformers"]
    return ["export", "openvino", *model, "--weight-format", weights, str(folder)]
