"""The engine as handlers see it."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from specvino.engine.request import GenerationRequest
from specvino.engine.segments import Segment

State = Literal["loading", "ready", "restarting", "closed"]


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What a loaded model says of itself.

    `context_length` is in tokens, prompt and completion together. `defaults` are the sampling settings of its
    generation_config.json, by their names in `Sampling`.
    """

    context_length: int
    defaults: Mapping[str, float | int]


@dataclass(frozen=True, slots=True)
class EngineStats:
    """`running` and `waiting` count sequences; `restarts` counts lost processes since the start."""

    state: State
    running: int
    waiting: int
    restarts: int


class Engine(Protocol):
    @property
    def model(self) -> ModelInfo:
        """The loaded model. Raises EngineUnavailable before it was first loaded."""
        ...

    async def start(self) -> None:
        """Loads the model; returns when ready. Raises ModelLoadError."""
        ...

    def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        """Answers one request. Raises an EngineError, a PromptError always before the first segment.

        Closing the generator (or cancelling the task that iterates it) cancels the request and frees its memory.
        """
        ...

    def stats(self) -> EngineStats: ...

    async def close(self) -> None:
        """Ends the engine and its processes; requests under way raise EngineUnavailable."""
        ...
