"""Segments -> chunks. The chunks are complete: the unary answer is their fold, a stream shows what was asked for."""

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from specvino.engine.segments import (
    Finish,
    PromptLogprobs,
    PromptText,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    TokenIds,
    TokenLogprob,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated import wire
from specvino.handlers import usage
from specvino.handlers.answer_id import answer_id
from specvino.handlers.logprobs import PendingPromptLogprobs, completion_logprobs
from specvino.handlers.token_ids import PendingTokens


class CompletionEmitter:
    """Makes the chunks of one answer, without I/O; each prompt has `n` choices."""

    def __init__(
        self,
        model: str,
        n: int,
        *,
        request_id: str | None = None,
        top_logprobs: int = 0,
        stop_reason: bool = False,
        arrival_times: bool = False,
    ) -> None:
        self._id = answer_id("cmpl-", request_id)
        self._created = int(time.time())
        self._model = model
        self._n = n
        self._tokens: PendingTokens | None = None
        self._prompts: dict[int, tuple[int, ...] | None] = {}  # of the choices that haven't begun
        self._top = top_logprobs
        self._prompt_logprobs = PendingPromptLogprobs()
        self._stop_reason = stop_reason
        self._begun = time.monotonic() if arrival_times else None
        self._offsets: defaultdict[int, int] = defaultdict(int)  # where each choice's next token begins

    def feed(self, segment: Segment) -> Sequence[wire.CompletionChunk]:
        """Returns a segment's chunks. Started makes none, and raw prompts are answered with text alone."""
        match segment:
            case Started(prompt_token_ids=prompts) if prompts:
                self._tokens = PendingTokens()
                self._prompts = {p * self._n + i: ids for p, ids in enumerate(prompts) for i in range(self._n)}
                return []
            case PromptLogprobs():
                self._prompt_logprobs.add(segment)
                return []
            case TokenIds() if self._tokens is not None:
                self._tokens.add(segment)
                return []
            case TextDelta(choice, text, logprobs) | PromptText(choice, text, logprobs):
                return [self._chunk([self._choice(choice, text, None, logprobs)])]
            case Finish(choice, reason, logprobs, stopped_by):
                assert reason != "tool_calls"
                last = self._choice(choice, "", reason, logprobs)
                if self._stop_reason:
                    last["stop_reason"] = stopped_by
                return [self._chunk([last])]
            case Usage():
                chunk = self._chunk([])
                chunk["usage"] = usage.to_wire(segment)
                return [chunk]
            case ReasoningDelta() | ToolCallStart() | ToolCallArguments() | ToolCallEnd():
                raise AssertionError(segment)
            case _:
                return []

    def _chunk(self, choices: list[wire.CompletionChunkChoice]) -> wire.CompletionChunk:
        if self._begun is not None:
            for choice in choices:
                choice["arrival_time"] = time.monotonic() - self._begun
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
        choice: wire.CompletionChunkChoice = {
            "index": index,
            "text": text,
            "logprobs": logprobs,
            "finish_reason": reason,
        }
        if index in self._prompts:
            ids = self._prompts.pop(index)
            choice["prompt_token_ids"] = None if ids is None else list(ids)
        if self._tokens is not None:
            choice["token_ids"] = choice["completion_token_ids"] = self._tokens.take(index)
        if self._prompt_logprobs.waiting:
            self._prompt_logprobs.give(choice)
        return choice
