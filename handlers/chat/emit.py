"""Segments -> chunks. The chunks are complete: the unary answer is their fold, a stream shows what was asked for."""

import time
import uuid
from collections.abc import Iterator

from specvino.engine.segments import Finish, FinishReason, Segment, Started, TextDelta, TokenLogprob, Usage
from specvino.generated import wire
from specvino.handlers import usage
from specvino.handlers.logprobs import chat_logprobs


class Emitter:
    """Makes the chunks of one answer, without I/O."""

    def __init__(self, model: str, n: int, *, top_logprobs: bool = False) -> None:
        self._id = f"chatcmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._model = model
        self._n = n
        self._top = top_logprobs

    def feed(self, segment: Segment) -> Iterator[wire.ChatCompletionChunk]:
        match segment:
            case TextDelta(choice, text, logprobs):
                yield self._chunk([self._choice(choice, {"content": text}, None, logprobs)])
            case Started():
                for choice in range(self._n):
                    yield self._chunk([self._choice(choice, {"role": "assistant"}, None)])
            case Finish(choice, reason, logprobs):
                # Of its own, as OpenAI sends it: clients have lost the text that came with a finish reason.
                yield self._chunk([self._choice(choice, {}, reason, logprobs)])
            case Usage():
                chunk = self._chunk([])
                chunk["usage"] = usage.to_wire(segment)
                yield chunk

    def _chunk(self, choices: list[wire.ChatChunkChoice]) -> wire.ChatCompletionChunk:
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            "choices": choices,
        }

    def _choice(
        self, index: int, delta: wire.ChatDelta, reason: FinishReason | None, logprobs: tuple[TokenLogprob, ...] = ()
    ) -> wire.ChatChunkChoice:
        return {
            "index": index,
            "delta": delta,
            "logprobs": chat_logprobs(logprobs, self._top) if logprobs else None,
            "finish_reason": reason,
        }
