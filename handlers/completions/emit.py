"""Segments -> chunks. The chunks are complete: the unary answer is their fold, a stream shows what was asked for."""

import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from specvino.engine.segments import (
    Finish,
    PromptText,
    ReasoningDelta,
    Segment,
    TextDelta,
    TokenLogprob,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated import wire
from specvino.handlers import usage
from specvino.handlers.logprobs import completion_logprobs


class CompletionEmitter:
    """Makes the chunks of one answer, without I/O."""

    def __init__(self, model: str, *, top_logprobs: bool = False) -> None:
        self._id = f"cmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._model = model
        self._top = top_logprobs
        self._offsets: defaultdict[int, int] = defaultdict(int)  # where each choice's next token begins

    def feed(self, segment: Segment) -> Sequence[wire.CompletionChunk]:
        """Returns a segment's chunks. Started makes none, and raw prompts are answered with text alone."""
        match segment:
            case TextDelta(choice, text, logprobs) | PromptText(choice, text, logprobs):
                return [self._chunk([self._choice(choice, text, None, logprobs)])]
            case Finish(choice, reason, logprobs):
                assert reason != "tool_calls"
                return [self._chunk([self._choice(choice, "", reason, logprobs)])]
            case Usage():
                chunk = self._chunk([])
                chunk["usage"] = usage.to_wire(segment)
                return [chunk]
            case ReasoningDelta() | ToolCallStart() | ToolCallArguments() | ToolCallEnd():
                raise AssertionError(segment)
            case _:
                return []

    def _chunk(self, choices: list[wire.CompletionChunkChoice]) -> wire.CompletionChunk:
        return {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "choices": choices,
        }

    def _choice(
        self, index: int, text: str, reason: Literal["stop", "length"] | None, tokens: tuple[TokenLogprob, ...]
    ) -> wire.CompletionChunkChoice:
        logprobs = completion_logprobs(tokens, self._top, self._offsets[index]) if tokens else None
        self._offsets[index] += sum(len(token.text) for token in tokens)
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}
