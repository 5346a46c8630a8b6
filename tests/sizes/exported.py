"""A model of a published shape with random weights, as an OpenVINO folder that optimum-intel exports."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from architectures.architecture import Architecture

_TRANSFORMERS = "5.5.4"


@dataclass(frozen=True)
class Exported:
    """What shapes.yaml says of a model. `config` is that of transformers, `weights` are int4 or int8."""

    name: str
    config: Mapping[str, Any]
    weights: str
    tokenizer: str
    end: str
    prompts: tuple[int, ...]
    streams: tuple[int, ...]
    draft: None = None

    def written(self) -> Path:
        """Returns the folder, which is made unless the cache has it."""
        # A model is built, saved and loaded in this precision: half the memory and disk.
        config = dict(self.config) | {"dtype": "bfloat16"}
        return Architecture(
            name=self.name,
            transformers=_TRANSFORMERS,
            config=config,
            tokenizer=self.tokenizer,
            template="own",
            end=self.end,
            weights=self.weights,
        ).exported()
