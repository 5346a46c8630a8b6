"""Segments -> chunks. The chunks are complete: the unary answer is their fold, a stream shows what was asked for."""

import time
import uuid
from collections.abc import Iterator

from specvino.engine.segments import Finish, FinishReason, Segment, TextDelta, Usage
from specvino.generated import wire
from specvino.handlers import usage


class Emitter:
    """Makes the chunks of one answer, without I/O."""

    def __init__(self, model: str) -> None:
        self._id = f"cmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._model = model

    def feed(self, segment: Segment) -> Iterator[wire.CompletionChunk]:
        """Started makes none: the protocol has no event for it."""
        match segment:
            case TextDelta(choice, text):
                yield self._chunk([_choice(choice, text, None)])
            case Finish(choice, reason):
                yield self._chunk([_choice(choice, "", reason)])
            case Usage():
                chunk = self._chunk([])
                chunk["usage"] = usage.to_wire(segment)
                yield chunk

    def _chunk(self, choices: list[wire.CompletionChunkChoice]) -> wire.CompletionChunk:
        return {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "choices": choices,
        }


def _choice(index: int, text: str, reason: FinishReason | None) -> wire.CompletionChunkChoice:
    return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}
