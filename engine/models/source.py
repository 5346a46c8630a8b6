"""A local model: its path and its properties."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A local model. `path` is an OpenVINO folder or a .gguf file. `context_length` is in tokens, prompt and completion
    together.

    `defaults` are the sampling settings of its generation_config.json, by their names in `Sampling`. With `gguf` the
    tokenizer was created from a GGUF file (as in a pulled model): OpenVINO's conversion keeps the last 8,192 tokens of
    a text, which is corrected for a folder (decision 017). With `vision` the model accepts images. `hidden_size` is the
    size of a token's state between two layers; None if the model doesn't state it. `adapter` is the file of a LoRA
    adapter of the model (decision 082). Without `prefix_cache` GenAI answers otherwise if it restores a beginning of a
    prompt, so that it mustn't (decision 085).
    """

    path: Path
    context_length: int
    defaults: Mapping[str, float | int]
    gguf: bool
    vision: bool = False
    hidden_size: int | None = None
    adapter: Path | None = None
    prefix_cache: bool = True
