"""Segments -> chunks. The chunks are complete: the unary answer is their fold, a stream shows what was asked for."""

import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Literal

from specvino.engine.segments import (
    Finish,
    FinishReason,
    PromptLogprobs,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    TokenIds,
    TokenLogprob,
    ToolCallArguments,
    ToolCallStart,
    Usage,
)
from specvino.generated import wire
from specvino.handlers import usage
from specvino.handlers.answer_id import answer_id
from specvino.handlers.logprobs import PendingPromptLogprobs, chat_logprobs
from specvino.handlers.token_ids import PendingTokens


class ChatEmitter:
    """Makes the chunks of one answer, without I/O. `legacy` writes calls as a function_call, which was before tools.

    Each choice begins with the text `echo`. With `token_ids` a chunk has the tokens up to those that it shows.
    """

    def __init__(
        self,
        model: str,
        n: int,
        *,
        request_id: str | None = None,
        top_logprobs: int = 0,
        stop_reason: bool = False,
        arrival_times: bool = False,
        legacy: bool = False,
        echo: str = "",
        token_ids: bool = False,
    ) -> None:
        self._id = answer_id("chatcmpl-", request_id)
        self._created = int(time.time())
        self._model = model
        self._n = n
        self._top = top_logprobs
        self._prompt_logprobs = PendingPromptLogprobs()
        self._stop_reason = stop_reason
        self._begun = time.monotonic() if arrival_times else None
        self._legacy = legacy
        self._echo = echo
        self._tokens = PendingTokens() if token_ids else None

    def feed(self, segment: Segment) -> Sequence[wire.ChatCompletionChunk]:
        """Returns the chunks that a segment makes."""
        match segment:
            case TextDelta(choice, text, logprobs):
                return [self._chunk([self._choice(choice, {"content": text}, None, logprobs)])]
            case ReasoningDelta(choice, text, logprobs):
                delta: wire.ChatDelta = {"reasoning_content": text, "reasoning": text}
                return [self._chunk([self._choice(choice, delta, None, logprobs)])]
            case ToolCallStart(choice, index, name, logprobs):
                return [self._chunk([self._choice(choice, self._call(index, name), None, logprobs)])]
            case ToolCallArguments(choice, index, text, logprobs):
                return [self._chunk([self._choice(choice, self._arguments(index, text), None, logprobs)])]
            case Started():
                return [chunk for choice in range(self._n) for chunk in self._begin(choice, segment)]
            case PromptLogprobs():
                self._prompt_logprobs.add(segment)
                return []
            case TokenIds() if self._tokens is not None:
                self._tokens.add(segment)
                return []
            case Finish(choice, reason, logprobs, stopped_by):
                # Of its own, as OpenAI sends it: clients have lost the text that came with a finish reason.
                last = self._choice(choice, {}, self._reason(reason), logprobs)
                if self._stop_reason:
                    last["stop_reason"] = stopped_by
                return [self._chunk([last])]
            case Usage():
                chunk = self._chunk([])
                chunk["usage"] = {
                    **usage.to_wire(segment),
                    "completion_tokens_details": {"reasoning_tokens": segment.reasoning_tokens},
                }
                return [chunk]
            case _:
                return []  # a call's end: the next piece, or the finish, says so

    def _begin(self, choice: int, started: Started) -> Iterator[wire.ChatCompletionChunk]:
        # With an empty text, as OpenAI sends it: clients read a content in each chunk that has a role.
        delta: wire.ChatDelta = {"role": "assistant", "content": ""}
        begin = self._chunk([{"index": choice, "delta": delta, "logprobs": None, "finish_reason": None}])
        if started.prompt_token_ids:
            (ids,) = started.prompt_token_ids
            begin["prompt_token_ids"] = delta["prompt_token_ids"] = None if ids is None else list(ids)
        yield begin
        if self._echo:
            yield self._chunk([self._choice(choice, {"content": self._echo}, None)])

    def _call(self, index: int, name: str) -> wire.ChatDelta:
        function: wire.ChatFunctionCallDelta = {"name": name, "arguments": ""}
        if self._legacy:
            return {"function_call": function}
        id = f"call_{uuid.uuid4().hex}"
        return {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}

    def _arguments(self, index: int, text: str) -> wire.ChatDelta:
        function: wire.ChatFunctionCallDelta = {"arguments": text}
        return {"function_call": function} if self._legacy else {"tool_calls": [{"index": index, "function": function}]}

    def _reason(self, reason: FinishReason) -> FinishReason | Literal["function_call"]:
        return "function_call" if self._legacy and reason == "tool_calls" else reason

    def _chunk(self, choices: list[wire.ChatChunkChoice]) -> wire.ChatCompletionChunk:
        if self._begun is not None:
            for choice in choices:
                choice["arrival_time"] = time.monotonic() - self._begun
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._model,
            "choices": choices,
        }

    def _choice(
        self,
        index: int,
        delta: wire.ChatDelta,
        reason: FinishReason | Literal["function_call"] | None,
        logprobs: tuple[TokenLogprob, ...] = (),
    ) -> wire.ChatChunkChoice:
        choice: wire.ChatChunkChoice = {
            "index": index,
            "delta": delta,
            "logprobs": chat_logprobs(logprobs, self._top) if logprobs else None,
            "finish_reason": reason,
        }
        if self._tokens is not None:
            choice["token_ids"] = delta["completion_token_ids"] = self._tokens.take(index)
        if self._prompt_logprobs.waiting:
            self._prompt_logprobs.give(choice)
        return choice
