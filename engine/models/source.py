"""A model that is at hand: where it lies and what it says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Names a model that is at hand. `path` is an OpenVINO folder or a .gguf file. `context_length` is in tokens,
    prompt and completion.

    `defaults` are the sampling settings of its generation_config.json, by their names in `Sampling`. `gguf`
    says that the tokenizer came from a GGUF file (that of a pulled model did): OpenVINO's conversion of it
    silently keeps only the last 8,192 tokens of a text. `vision` says that the model sees images.
    """

    path: Path
    context_length: int
    defaults: Mapping[str, float | int]
    gguf: bool
    vision: bool = False
