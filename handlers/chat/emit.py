"""Segments -> chunks -> the unary answer. The chunks are complete: the answer is their fold; a stream sends the
requested part.
"""

import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
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
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated import wire
from specvino.handlers.chunks import PendingTokens, answer_id, usage_to_wire
from specvino.handlers.logprobs import PendingPromptLogprobs, chat_logprobs
from specvino.handlers.tools import CustomInput, ToolCalling


class ChatEmitter:
    """Creates the chunks of one answer, without I/O. `tools` are those that the model can call. Each choice begins with
    the text `echo`. With `token_ids` a chunk has all ids up to the end of its text.
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
        tools: ToolCalling | None = None,
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
        self._tools = tools or ToolCalling()
        self._custom: dict[tuple[int, int], CustomInput] = {}  # of each custom call, by choice and index
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
                return [self._chunk([self._choice(choice, self._call(choice, index, name), None, logprobs)])]
            case ToolCallArguments(choice, index, text, logprobs):
                return [self._chunk([self._choice(choice, self._arguments(choice, index, text), None, logprobs)])]
            case ToolCallEnd(choice, index) if (choice, index) in self._custom:
                rest = self._custom[choice, index].end()
                return [self._chunk([self._choice(choice, _input(index, rest), None)])] if rest else []
            case Started():
                return [chunk for choice in range(self._n) for chunk in self._begin(choice, segment)]
            case PromptLogprobs():
                self._prompt_logprobs.add(segment)
                return []
            case TokenIds() if self._tokens is not None:
                self._tokens.add(segment)
                return []
            case Finish(choice, reason, logprobs, stopped_by):
                # A separate chunk, as in OpenAI's streams: some clients drop text in a chunk with a finish reason.
                last = self._choice(choice, {}, self._reason(reason), logprobs)
                if self._stop_reason:
                    last["stop_reason"] = stopped_by
                return [self._chunk([last])]
            case Usage():
                chunk = self._chunk([])
                chunk["usage"] = {
                    **usage_to_wire(segment),
                    "completion_tokens_details": {"reasoning_tokens": segment.reasoning_tokens},
                }
                return [chunk]
            case _:
                return []  # the next delta or the finish implies the end of a call

    def _begin(self, choice: int, started: Started) -> Iterator[wire.ChatCompletionChunk]:
        # With an empty text, as in OpenAI's streams: clients expect content in each chunk with a role.
        delta: wire.ChatDelta = {"role": "assistant", "content": ""}
        begin = self._chunk([{"index": choice, "delta": delta, "logprobs": None, "finish_reason": None}])
        if self._tokens is not None:
            (ids,) = started.prompt_token_ids
            begin["prompt_token_ids"] = delta["prompt_token_ids"] = None if ids is None else list(ids)
        yield begin
        if self._echo:
            yield self._chunk([self._choice(choice, {"content": self._echo}, None)])

    def _call(self, choice: int, index: int, name: str) -> wire.ChatDelta:
        id = f"call_{uuid.uuid4().hex}"
        if self._tools.called(name).kind == "custom":
            self._custom[choice, index] = CustomInput()
            return {"tool_calls": [{"index": index, "id": id, "type": "custom", "custom": {"name": name, "input": ""}}]}
        function: wire.ChatFunctionCallDelta = {"name": name, "arguments": ""}
        if self._tools.legacy:
            return {"function_call": function}
        return {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}

    def _arguments(self, choice: int, index: int, text: str) -> wire.ChatDelta:
        if custom := self._custom.get((choice, index)):
            return _input(index, custom.feed(text))
        function: wire.ChatFunctionCallDelta = {"arguments": text}
        if self._tools.legacy:
            return {"function_call": function}
        return {"tool_calls": [{"index": index, "function": function}]}

    def _reason(self, reason: FinishReason) -> FinishReason | Literal["function_call"]:
        return "function_call" if self._tools.legacy and reason == "tool_calls" else reason

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


def _input(index: int, text: str) -> wire.ChatDelta:
    return {"tool_calls": [{"index": index, "custom": {"input": text}}]}


class _Message:
    """The message of a choice, joined from its deltas."""

    def __init__(self) -> None:
        self.logprobs: list[wire.TokenLogprob] | None = None
        self.token_ids: list[int] | None = None
        self.prompt_logprobs: list[dict[str, wire.PromptTokenLogprob] | None] | None = None
        self.prompt: list[int] | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[wire.ChatToolCall] = []
        self._arguments: list[list[str]] = []  # of each call
        self._legacy: wire.ChatFunctionCall | None = None

    def add(self, delta: wire.ChatDelta) -> None:
        if "prompt_token_ids" in delta:
            self.prompt, self.token_ids = delta["prompt_token_ids"], []
        if self.token_ids is not None:
            self.token_ids += delta.get("completion_token_ids") or ()
        self._text.append(delta.get("content") or "")
        self._reasoning.append(delta.get("reasoning_content") or "")
        for call in delta.get("tool_calls", ()):
            function, custom = call.get("function"), call.get("custom")
            if "id" in call:
                self._calls.append(_begun(call))
                self._arguments.append([])
            self._arguments[call["index"]].append(
                custom["input"] if custom else function["arguments"] if function else ""
            )
        if legacy := delta.get("function_call"):
            if self._legacy is None:
                self._legacy = {"name": legacy["name"], "arguments": ""}
                self._arguments.append([])
            self._arguments[-1].append(legacy["arguments"])

    def joined(self) -> wire.ChatMessage:
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        called = bool(self._calls) or self._legacy is not None
        message: wire.ChatMessage = {"role": "assistant", "content": text, "refusal": None}
        if called and not text:
            message["content"] = None
        if reasoning:
            message["reasoning_content"] = message["reasoning"] = reasoning
        if self._calls:
            for call, arguments in zip(self._calls, self._arguments, strict=True):
                if "custom" in call:
                    call["custom"]["input"] = "".join(arguments)
                else:
                    call["function"]["arguments"] = "".join(arguments)
            message["tool_calls"] = self._calls
        if self._legacy is not None:
            message["function_call"] = {**self._legacy, "arguments": "".join(self._arguments[-1])}
        if self.token_ids is not None:
            message["prompt_token_ids"], message["completion_token_ids"] = self.prompt, self.token_ids
        return message


def _begun(call: wire.ChatToolCallDelta) -> wire.ChatToolCall:
    """Returns a call whose first chunk is given, without arguments or input."""
    if custom := call.get("custom"):
        return {"id": call["id"], "type": "custom", "custom": {"name": custom["name"], "input": ""}}
    return {"id": call["id"], "type": "function", "function": {"name": call["function"]["name"], "arguments": ""}}


async def fold(chunks: AsyncIterator[wire.ChatCompletionChunk]) -> wire.ChatCompletion:
    """Joins the chunks of a complete stream, with usage, to the unary answer."""
    messages: dict[int, _Message] = {}
    choices: dict[int, wire.ChatChoice] = {}
    async for chunk in chunks:
        for choice in chunk["choices"]:
            index, reason = choice["index"], choice["finish_reason"]
            message = messages.setdefault(index, _Message())
            message.add(choice["delta"])
            if choice["logprobs"] is not None:
                message.logprobs = message.logprobs or []
                message.logprobs += choice["logprobs"]["content"] or ()
            if "prompt_logprobs" in choice:
                message.prompt_logprobs = choice["prompt_logprobs"]
            if reason is not None:
                tokens: wire.ChatLogprobs | None = None
                if message.logprobs is not None:
                    tokens = {"content": message.logprobs, "refusal": None}
                choices[index] = {
                    "index": index,
                    "message": message.joined(),
                    "logprobs": tokens,
                    "finish_reason": reason,
                }
                if message.token_ids is not None:
                    choices[index]["token_ids"] = message.token_ids
                if message.prompt_logprobs is not None:
                    choices[index]["prompt_logprobs"] = message.prompt_logprobs
                if "stop_reason" in choice:
                    choices[index]["stop_reason"] = choice["stop_reason"]
        usage = chunk.get("usage")
        if usage is not None:  # the last chunk
            completion: wire.ChatCompletion = {
                "id": chunk["id"],
                "object": "chat.completion",
                "created": chunk["created"],
                "model": chunk["model"],
                "choices": [choices[index] for index in sorted(choices)],
                "usage": usage,
            }
            if messages[0].token_ids is not None:
                completion["prompt_token_ids"] = messages[0].prompt
            if messages[0].prompt_logprobs is not None:
                completion["prompt_logprobs"] = messages[0].prompt_logprobs
            return completion
    raise RuntimeError("the stream ended without usage")
