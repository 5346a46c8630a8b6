"""The pipelines that reproductions try: those of the tiny models in `tests/models`."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import openvino
from openvino_genai import ContinuousBatchingPipeline, GenerationConfig, SchedulerConfig, Tokenizer

ROOT = Path(__file__).parents[3]
TINY_TEXT = str(ROOT / "tests" / "models" / "tiny_text")
TINY_VISION = str(ROOT / "tests" / "models" / "tiny_vision")

PRECISE = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "u8"}
"""The same texts on every CPU."""


def pipeline(
    model: str = TINY_TEXT, scheduler: dict[str, Any] | None = None, **properties: Any
) -> ContinuousBatchingPipeline:
    """Loads a model. `scheduler` are attributes of SchedulerConfig, the rest are properties of the pipeline."""
    config = SchedulerConfig()
    for name, value in (scheduler or {}).items():
        setattr(config, name, value)
    return ContinuousBatchingPipeline(model, config, "CPU", PRECISE | properties)


def config(**values: Any) -> GenerationConfig:
    """A configuration for 20 greedy tokens, unless `values` say otherwise."""
    made = GenerationConfig()
    made.max_new_tokens = 20
    for name, value in values.items():
        setattr(made, name, value)
    return made


def encode(text: str, model: str = TINY_TEXT) -> openvino.Tensor:
    """Returns the token ids of a user's message, as the chat template writes it; shape [1, tokens], int64."""
    tokenizer = Tokenizer(model)
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True)
    return tokenizer.encode(prompt, add_special_tokens=False).input_ids


def tensor(*ids: int) -> openvino.Tensor:
    """Returns token ids as a tensor of the shape [1, tokens]."""
    return openvino.Tensor(numpy.array([ids], numpy.int64))


def read(handle: Any) -> list[Any]:
    """Returns the outputs that are ready."""
    parts: list[Any] = []
    while handle.can_read():
        parts += handle.read().values()
    return parts


def finish(pipe: ContinuousBatchingPipeline, *handles: Any, steps: int = 200) -> list[list[Any]]:
    """Steps until all is done, and returns each handle's outputs. Raises what a step raises."""
    outputs: list[list[Any]] = [[] for _ in handles]
    for _ in range(steps):
        if not pipe.has_non_finished_requests():
            break
        pipe.step()
        for parts, handle in zip(outputs, handles, strict=True):
            parts += read(handle)
    return outputs


def tokens(parts: list[Any]) -> list[int]:
    """Returns the token ids of a handle's outputs."""
    return [token for part in parts for token in part.generated_ids]


def failure(pipe: ContinuousBatchingPipeline, prompt: openvino.Tensor, made: GenerationConfig, id: int = 0) -> str:
    """Returns what a step says that raises with this request, in its last line; nothing if all goes well.

    What `add_request` raises isn't caught: that leaves a pipeline sound, so that nothing has to be worked around.
    """
    handle = pipe.add_request(id, prompt, made)
    try:
        finish(pipe, handle)
    except RuntimeError as error:
        return last_line(error)
    return ""


def last_line(error: Exception) -> str:
    """Returns what an exception says, without the place in the engine's source."""
    return str(error).strip().splitlines()[-1].partition(" failed at ")[0]


def in_a_child(code: str, seconds: float = 60) -> int | None:
    """Runs code that may crash or hang, with these modules importable; returns its exit code, None if it hung."""
    command = [sys.executable, "-c", code]
    try:
        return subprocess.run(
            command, cwd=Path(__file__).parent, timeout=seconds, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ).returncode
    except subprocess.TimeoutExpired:
        return None
