"""Segments -> the lines of a stream -> the unary answer, which is their fold."""

import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from time import perf_counter
from typing import Generic, Literal, TypeVar

from specvino.engine.segments import (
    Finish,
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
from specvino.handlers.logprobs import most_likely
from specvino.handlers.tools import arguments_of

Line = TypeVar("Line", wire.OllamaChatResponse, wire.OllamaGenerateResponse)
Calls = list[wire.OllamaAnswerToolCall]


class Lines(ABC, Generic[Line]):
    """The emitter of one answer's lines, without I/O. `arrived` is the request's time of arrival by `perf_counter`, and
    `top` the number of most likely tokens in the answer's logprobs. An answer that only `loads` the model has no
    measurements.
    """

    def __init__(self, model: str, arrived: float, top: int, *, loads: bool) -> None:
        self._model = model
        self._top = top
        self._loads = loads
        self._arrived = arrived
        self._first: float | None = None  # the time of the first token
        self._reason: Literal["stop", "length", "load"] = "load" if loads else "stop"
        self._called = ""
        self._arguments: list[str] = []  # of the call in progress
        self._logprobs: list[TokenLogprob] = []  # for the next line

    def feed(self, segment: Segment) -> Iterator[Line]:
        """Yields the lines that a segment makes."""
        match segment:
            case TextDelta(text=text):
                yield self._next(segment.logprobs, text=text)
            case ReasoningDelta(text=text):
                yield self._next(segment.logprobs, thinking=text)
            case ToolCallStart(name=name):
                self._note(segment.logprobs)
                self._called = name
            case ToolCallArguments(text=text):
                self._note(segment.logprobs)
                self._arguments.append(text)
            case ToolCallEnd(index=index):
                yield self._next((), calls=[self._call(index)])
            case Finish(reason=reason):
                self._note(segment.logprobs)
                if not self._loads:
                    self._reason = "length" if reason == "length" else "stop"
            case Usage():
                yield self._last(segment)

    @abstractmethod
    def _line(self, text: str, thinking: str, calls: Calls) -> Line:
        """Returns a line with a part of the answer."""

    def _next(
        self, logprobs: Iterable[TokenLogprob], *, text: str = "", thinking: str = "", calls: Calls | None = None
    ) -> Line:
        self._note(logprobs)
        line = self._line(text, thinking, calls or [])
        if self._logprobs:
            line["logprobs"] = [self._logprob(token) for token in self._logprobs]
            self._logprobs.clear()
        return line

    def _last(self, usage: Usage) -> Line:
        line = self._next(())
        line["done"] = True
        line["done_reason"] = self._reason
        if not self._loads:
            end = perf_counter()
            first = end if self._first is None else self._first
            line["total_duration"] = _nanoseconds(end - self._arrived)
            line["load_duration"] = 0
            line["prompt_eval_count"] = usage.prompt_tokens
            line["prompt_eval_duration"] = _nanoseconds(first - self._arrived)
            line["eval_count"] = usage.completion_tokens
            line["eval_duration"] = _nanoseconds(end - first)
        return line

    def _note(self, logprobs: Iterable[TokenLogprob]) -> None:
        """Notes that a part of the answer has come, and its logprobs for the next line."""
        if self._first is None:
            self._first = perf_counter()
        self._logprobs += logprobs

    def _call(self, index: int) -> wire.OllamaAnswerToolCall:
        arguments = "".join(self._arguments)
        self._arguments.clear()
        function: wire.OllamaAnswerFunction = {
            "index": index,
            "name": self._called,
            "arguments": arguments_of(arguments),
        }
        return {"id": f"call_{uuid.uuid4().hex}", "function": function}

    def _logprob(self, token: TokenLogprob) -> wire.OllamaLogprob:
        logprob: wire.OllamaLogprob = {"token": token.text, "logprob": token.logprob or 0.0}
        if token.bytes is not None:
            logprob["bytes"] = list(token.bytes)
        if self._top:
            logprob["top_logprobs"] = [_top(*likely) for likely in islice(most_likely(token), self._top)]
        return logprob


class ChatLines(Lines[wire.OllamaChatResponse]):
    """The lines of /api/chat, which have parts of a message."""

    def _line(self, text: str, thinking: str, calls: Calls) -> wire.OllamaChatResponse:
        message: wire.OllamaAnswerMessage = {"role": "assistant", "content": text}
        if thinking:
            message["thinking"] = thinking
        if calls:
            message["tool_calls"] = calls
        return {"model": self._model, "created_at": _now(), "message": message, "done": False}


class GenerateLines(Lines[wire.OllamaGenerateResponse]):
    """The lines of /api/generate, which have parts of a text. Such requests have no tools."""

    def _line(self, text: str, thinking: str, calls: Calls) -> wire.OllamaGenerateResponse:
        assert not calls
        line: wire.OllamaGenerateResponse = {
            "model": self._model,
            "created_at": _now(),
            "response": text,
            "done": False,
        }
        if thinking:
            line["thinking"] = thinking
        return line


async def fold_chat(lines: AsyncIterator[wire.OllamaChatResponse]) -> wire.OllamaChatResponse:
    """Joins the lines of a complete stream to the unary answer."""
    *parts, last = [line async for line in lines]
    messages = [line["message"] for line in parts]
    last["message"]["content"] = "".join(message["content"] for message in messages)
    if thinking := "".join(message.get("thinking", "") for message in messages):
        last["message"]["thinking"] = thinking
    if calls := [call for message in messages for call in message.get("tool_calls", ())]:
        last["message"]["tool_calls"] = calls
    return _with_logprobs(last, parts)


async def fold_generate(lines: AsyncIterator[wire.OllamaGenerateResponse]) -> wire.OllamaGenerateResponse:
    """Joins the lines of a complete stream to the unary answer."""
    *parts, last = [line async for line in lines]
    last["response"] = "".join(line["response"] for line in parts)
    if thinking := "".join(line.get("thinking", "") for line in parts):
        last["thinking"] = thinking
    return _with_logprobs(last, parts)


def _with_logprobs(last: Line, parts: list[Line]) -> Line:
    logprobs = [logprob for line in parts for logprob in line.get("logprobs", [])]
    if logprobs := logprobs + last.get("logprobs", []):
        last["logprobs"] = logprobs
    return last


def _top(text: str, bytes: bytes | None, logprob: float) -> wire.OllamaTopLogprob:
    top: wire.OllamaTopLogprob = {"token": text, "logprob": logprob}
    if bytes is not None:
        top["bytes"] = list(bytes)
    return top


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
