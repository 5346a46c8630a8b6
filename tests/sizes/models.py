"""The models of shapes.yaml."""

from pathlib import Path

import yaml

from sizes.exported import Exported
from sizes.shape import Shape

Model = Shape | Exported


def models() -> dict[str, Model]:
    """Returns the models by name."""
    kinds: dict[str, type[Model]] = {"gguf": Shape, "openvino": Exported}
    document = yaml.safe_load(Path(__file__).with_name("shapes.yaml").read_text("utf-8"))
    return {
        name: kinds[kind](name=name, **entry | {"prompts": tuple(entry["prompts"]), "streams": tuple(entry["streams"])})
        for kind, entries in document.items()
        for name, entry in entries.items()
    }
