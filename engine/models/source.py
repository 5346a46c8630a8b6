"""A model that is at hand: where it lies and what it says of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ModelSource:
    """`path` is an OpenVINO folder, or a file if `gguf`. `context_length` is in tokens, prompt and completion together.

    `defaults` are the sampling settings of its generation_config.json, by their names in `Sampling`.
    """

    path: Path
    context_length: int
    defaults: Mapping[str, float | int]
    gguf: bool
