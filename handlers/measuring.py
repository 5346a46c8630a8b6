"""The measurements of a generation: tokens, choices and seconds, for metrics, traces and the access log. They never
contain text. They are measured where segments leave the engine, so they are the same for every engine and endpoint,
streamed or not. Text that is held back (the beginning of a stop string, the markup of a call) counts when it is sent.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, Protocol

from specvino.engine.request import GenerationRequest
from specvino.engine.segments import (
    Finish,
    Phases,
    PromptText,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    TokenIds,
    ToolCallEnd,
    Usage,
)
from specvino.handlers.errors import ApiError

Outcome = Literal["stop", "length", "abort", "error"]
"""The outcome of a choice, in vLLM's terms: calls are a `stop`, a disconnected client is an `abort`."""


@dataclass(slots=True)
class GenerationRecord:
    """The measurements of one request. Times are in seconds since it arrived, None if the event didn't happen.

    Each prompt has `n` of the `choices`. `completion_tokens` and `reasoning_tokens` are known at the end: they are None
    for a request that was interrupted. `error` is the code of the error that ended it. `phases` are the engine's own
    times, for a completed request.
    """

    n: int
    choices: int
    max_tokens: int | None
    temperature: float
    top_p: float
    prompt_tokens: int = 0
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    tool_calls: int = 0
    first_token: float | None = None
    last_token: float | None = None
    ended: float = 0.0
    outcomes: list[Outcome] = field(default_factory=list)
    error: str | None = None
    phases: Phases | None = None

    @property
    def per_output_token(self) -> float | None:
        """The mean time between two tokens of a choice, None if no choice has two."""
        if self.first_token is None or self.last_token is None or self.completion_tokens is None:
            return None
        later = self.completion_tokens - self.choices
        return (self.last_token - self.first_token) * self.choices / later if later > 0 else None


class Observer(Protocol):
    """Receives the measurements of generations as they happen. Its methods must be quick, and must not raise."""

    def first_token(self, seconds: float) -> None:
        """Called for the first text of a request, with the time since the request arrived."""

    def later_token(self, seconds: float) -> None:
        """Called for each further text of a choice, with the time since its previous text."""

    def ended(self, record: GenerationRecord) -> None:
        """Called once for each admitted request, however it ended."""


class Measured:
    """Measures one request as its segments pass: calls the observers, and puts the record into `notes`."""

    def __init__(
        self, asked: GenerationRequest, arrived: float, notes: dict[str, Any], observers: Sequence[Observer]
    ) -> None:
        choices = asked.n * len(asked.prompts)
        settings = asked.sampling
        self._record = GenerationRecord(asked.n, choices, settings.max_tokens, settings.temperature, settings.top_p)
        self._arrived = arrived
        self._notes = notes
        self._observers = observers
        self._admitted = False
        self._last: dict[int, float] = {}  # by choice

    def feed(self, segment: Segment) -> None:
        """Measures a segment that is about to be sent."""
        record = self._record
        match segment:
            case TextDelta() | ReasoningDelta():  # the most frequent ones first
                self._token(segment.choice)
            case Started():
                record.prompt_tokens = segment.prompt_tokens
                self._admitted = True
            case Usage():
                record.prompt_tokens = segment.prompt_tokens
                record.completion_tokens = segment.completion_tokens
                record.reasoning_tokens = segment.reasoning_tokens
                record.phases = segment.phases
            case Finish():
                record.outcomes.append("length" if segment.reason == "length" else "stop")
            case PromptText() | TokenIds():
                pass
            case _:
                if isinstance(segment, ToolCallEnd):
                    record.tool_calls += 1
                self._token(segment.choice)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Surrounds the whole generation; an exception in it determines how the generation ended."""
        unfinished: Outcome = "abort"
        try:
            yield
        except (GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException as error:
            unfinished = "error"
            self._record.error = error.code.value if isinstance(error, ApiError) else "internal_error"
            raise
        finally:
            if self._admitted:
                self._end(unfinished)

    def _token(self, choice: int) -> None:
        now = perf_counter() - self._arrived
        before = self._last.get(choice)
        self._last[choice] = self._record.last_token = now
        if self._record.first_token is None:
            self._record.first_token = now
            for observer in self._observers:
                observer.first_token(now)
        elif before is not None:
            for observer in self._observers:
                observer.later_token(now - before)

    def _end(self, unfinished: Outcome) -> None:
        record = self._record
        record.outcomes += [unfinished] * (record.choices - len(record.outcomes))
        record.ended = perf_counter() - self._arrived
        for observer in self._observers:
            observer.ended(record)
        self._notes["generation"] = record
