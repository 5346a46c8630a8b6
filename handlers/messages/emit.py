"""Segments -> the events of a message -> the unary answer, which is their fold."""

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from specvino.engine.segments import (
    Finish,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated import wire
from specvino.handlers.encryption import Cipher
from specvino.handlers.tools import arguments_of

_Block = wire.AnthropicAnswerText | wire.AnthropicAnswerThinking | wire.AnthropicAnswerToolUse
_Delta = (
    wire.AnthropicTextDelta | wire.AnthropicInputJsonDelta | wire.AnthropicThinkingDelta | wire.AnthropicSignatureDelta
)
_StopReason = Literal["end_turn", "max_tokens", "stop_sequence", "tool_use", "model_context_window_exceeded"]


class MessageEmitter:
    """The emitter of one message's events, without I/O. `max_tokens` is the request's limit. With `omits_thinking`,
    reasoning is only in its signature.
    """

    def __init__(self, model: str, max_tokens: int, cipher: Cipher, *, omits_thinking: bool = False) -> None:
        self._model = model
        self._max_tokens = max_tokens
        self._cipher = cipher
        self._omits_thinking = omits_thinking
        self._index = -1  # of the last block
        self._open: Literal["text", "thinking", "tool_use"] | None = None
        self._thinking: list[str] = []  # of the open block
        self._finish: Finish | None = None

    def feed(self, segment: Segment) -> Iterator[wire.AnthropicStreamEvent]:
        """Yields the events that a segment makes."""
        match segment:
            case Started():
                yield {"type": "message_start", "message": self._begun(segment)}
                yield {"type": "ping"}
            case TextDelta(text=text):
                if self._open != "text":
                    yield from self._begin({"type": "text", "text": "", "citations": []})
                yield self._delta({"type": "text_delta", "text": text})
            case ReasoningDelta(text=text):
                if self._open != "thinking":
                    yield from self._begin({"type": "thinking", "thinking": "", "signature": ""})
                self._thinking.append(text)
                if not self._omits_thinking:
                    yield self._delta({"type": "thinking_delta", "thinking": text})
            case ToolCallStart(name=name):
                id = f"toolu_{uuid.uuid4().hex}"
                caller: wire.AnthropicAnswerCaller = {"type": "direct"}
                yield from self._begin({"type": "tool_use", "id": id, "name": name, "input": {}, "caller": caller})
            case ToolCallArguments(text=text):
                yield self._delta({"type": "input_json_delta", "partial_json": text})
            case ToolCallEnd():
                yield from self._end()
            case Finish():
                yield from self._end()
                self._finish = segment
            case Usage():
                usage = _usage(segment.prompt_tokens, segment.completion_tokens, segment.reasoning_tokens)
                yield {"type": "message_delta", "delta": self._change(segment), "usage": {**usage}}
                yield {"type": "message_stop"}

    def _begun(self, started: Started) -> wire.AnthropicMessage:
        return {
            "id": f"msg_{uuid.uuid4().hex}",
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "container": None,
            "usage": _usage(started.prompt_tokens, 0, 0),
        }

    def _begin(self, block: _Block) -> Iterator[wire.AnthropicStreamEvent]:
        yield from self._end()
        self._index += 1
        self._open = block["type"]
        yield {"type": "content_block_start", "index": self._index, "content_block": block}

    def _delta(self, delta: _Delta) -> wire.AnthropicStreamEvent:
        return {"type": "content_block_delta", "index": self._index, "delta": delta}

    def _end(self) -> Iterator[wire.AnthropicStreamEvent]:
        if self._open is None:
            return
        if self._open == "thinking":
            signature = self._cipher.encrypt("".join(self._thinking))
            self._thinking.clear()
            yield self._delta({"type": "signature_delta", "signature": signature})
        yield {"type": "content_block_stop", "index": self._index}
        self._open = None

    def _change(self, usage: Usage) -> wire.AnthropicMessageChange:
        assert self._finish is not None
        stopped_by = self._finish.stopped_by
        reason: _StopReason
        match self._finish.reason:
            case "tool_calls":
                reason = "tool_use"
            case "length":
                reached_limit = usage.completion_tokens >= self._max_tokens
                reason = "max_tokens" if reached_limit else "model_context_window_exceeded"
            case "stop":
                reason = "stop_sequence" if isinstance(stopped_by, str) else "end_turn"
        sequence = stopped_by if reason == "stop_sequence" and isinstance(stopped_by, str) else None
        return {"stop_reason": reason, "stop_sequence": sequence}


async def fold(events: AsyncIterator[wire.AnthropicStreamEvent]) -> wire.AnthropicMessage:
    """Joins the events of a complete stream to the unary answer."""
    message: wire.AnthropicMessage | None = None
    pieces: list[str] = []  # of the last block's text, reasoning or arguments
    async for event in events:
        match event["type"]:
            case "message_start":
                message = {**event["message"], "content": []}
            case "content_block_start":
                assert message is not None
                message["content"].append(event["content_block"])
            case "content_block_delta":
                assert message is not None
                delta, block = event["delta"], message["content"][-1]
                if delta["type"] == "signature_delta" and block["type"] == "thinking":
                    block["signature"] = delta["signature"]
                else:
                    pieces.append(_piece(delta))
            case "content_block_stop":
                assert message is not None
                _fill(message["content"][-1], "".join(pieces))
                pieces.clear()
            case "message_delta":
                assert message is not None
                return {**message, **event["delta"], "usage": {**message["usage"], **event["usage"]}}
    raise RuntimeError("the stream ended before the message did")


def _piece(delta: Any) -> str:
    (text,) = (value for key, value in delta.items() if key != "type")
    return str(text)


def _fill(block: Any, text: str) -> None:
    match block["type"]:
        case "text":
            block["text"] = text
        case "thinking":
            block["thinking"] = text
        case "tool_use":
            block["input"] = arguments_of(text)


def _usage(prompt: int, completion: int, reasoning: int) -> wire.AnthropicUsage:
    return {
        "input_tokens": prompt,
        "output_tokens": completion,
        "output_tokens_details": {"thinking_tokens": reasoning},
        "cache_creation": None,
        "cache_creation_input_tokens": 0,  # decision 061
        "cache_read_input_tokens": 0,
        "inference_geo": None,
        "server_tool_use": None,
        "service_tier": "standard",
    }
