"""Segments -> the events of a response -> the unary answer, which is the response in the last event."""

import time
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

from specvino.engine.request import Sampling
from specvino.engine.segments import (
    Finish,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    TokenLogprob,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated import models, wire
from specvino.handlers.errors import ApiError
from specvino.handlers.fields import or_none
from specvino.handlers.responses.output_items import Item, MessageItem, ReasoningItem, call_item, whole_item
from specvino.handlers.responses.request_echo import request_echo
from specvino.handlers.tools import ToolCalling


class ResponseEmitter:
    """The emitter of one response's events, without I/O. The output begins with the `compaction`, if there is one."""

    def __init__(
        self,
        body: models.CreateResponseRequest,
        sampling: Sampling,
        stored: bool = False,
        *,
        top_logprobs: int = 0,
        tools: ToolCalling | None = None,
        compaction: wire.OutputCompaction | None = None,
    ) -> None:
        id = f"resp_{uuid.uuid4().hex}"
        self._response = request_echo(body, sampling, id, int(time.time()), stored, top_logprobs=top_logprobs)
        self._top = top_logprobs
        self._summary = self._response["reasoning"]["summary"] is not None
        self._open: Item | None = None
        self._tools = tools or ToolCalling()
        self._compaction = compaction
        self._order = _ChoiceOrder() if (or_none(body.n) or 1) > 1 else None
        self._begun = False  # the output of a choice; there may be several choices
        self._cut = False
        self._sequence_number = 0

    def feed(self, segment: Segment) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the events that a segment makes, numbered."""
        for ordered in (segment,) if self._order is None else self._order.feed(segment):
            for event in self._events(ordered):
                yield self._numbered(event)

    def fail(self, error: ApiError) -> wire.ResponseStreamEvent:
        """Returns the last event of a response that failed after its first event was sent."""
        reason: wire.ResponseError = {"code": error.kind.type.value, "message": error.message}
        return self._numbered(cut({**self._response, "error": reason}, "failed"))

    def cancel(self) -> wire.ResponseStreamEvent:
        """Returns the last event of a cancelled response."""
        return self._numbered(cut(self._response, "cancelled"))

    def leave(self) -> list[Any]:
        """Returns the last events of a response that is cancelled: its output so far is incomplete."""
        return [*map(self._numbered, self._close("incomplete")), self.cancel()]

    def _events(self, segment: Segment) -> Iterator[wire.ResponseStreamEvent]:
        match segment:
            case Started():
                yield {"type": "response.created", "sequence_number": 0, "response": self._response}
                if self._response["status"] == "queued":
                    yield {"type": "response.queued", "sequence_number": 0, "response": self._response}
                    self._response = {**self._response, "status": "in_progress"}
                yield {"type": "response.in_progress", "sequence_number": 0, "response": self._response}
                if self._compaction:
                    yield from whole_item(self._next, self._compaction)
                    self._response = {**self._response, "output": [self._compaction]}
            case TextDelta(text=text, logprobs=logprobs):
                if not isinstance(self._open, MessageItem):
                    yield from self._close("completed")
                    yield from self._begin(MessageItem(self._next, top_logprobs=self._top))
                assert isinstance(self._open, MessageItem)
                yield from self._open.add(text, logprobs)
            case ReasoningDelta(text=text):
                if not isinstance(self._open, ReasoningItem):
                    yield from self._close("completed")
                    yield from self._begin(ReasoningItem(self._next, summary=self._summary))
                assert isinstance(self._open, ReasoningItem)
                yield from self._open.add(text)
            case ToolCallStart(name=name):
                yield from self._close("completed")
                yield from self._begin(call_item(self._next, self._tools.called(name)))
            case ToolCallArguments(text=text):
                assert self._open is not None
                yield from self._open.add(text)
            case ToolCallEnd(complete=complete):
                yield from self._close("completed" if complete else "incomplete")
            case Finish(reason=reason, logprobs=logprobs):
                if not self._begun:  # a choice without output is an empty message
                    yield from self._begin(MessageItem(self._next, top_logprobs=self._top))
                yield from self._close("incomplete" if reason == "length" else "completed", logprobs)
                self._begun, self._cut = False, self._cut or reason == "length"
            case Usage():
                yield self._last(segment)

    @property
    def _next(self) -> int:
        return len(self._response["output"])

    def _begin(self, item: Item) -> Iterator[wire.ResponseStreamEvent]:
        self._open, self._begun = item, True
        yield from item.begin()

    def _close(
        self, status: Literal["completed", "incomplete"], tokens: tuple[TokenLogprob, ...] = ()
    ) -> Iterator[wire.ResponseStreamEvent]:
        if self._open is None:
            return
        yield from self._open.end(status, tokens)
        self._response = {**self._response, "output": [*self._response["output"], self._open.item]}
        self._open = None

    def _last(self, usage: Usage) -> wire.ResponseStreamEvent:
        final: wire.ResponseObject = {**self._response, "usage": usage_of(usage)}
        if self._cut:
            cut: wire.ResponseObject = {
                **final,
                "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"},
            }
            return {"type": "response.incomplete", "sequence_number": 0, "response": cut}
        completed: wire.ResponseObject = {**final, "status": "completed", "completed_at": int(time.time())}
        return {"type": "response.completed", "sequence_number": 0, "response": completed}

    def _numbered(self, event: wire.ResponseStreamEvent) -> wire.ResponseStreamEvent:
        event["sequence_number"] = self._sequence_number
        self._sequence_number += 1
        return event


async def fold(events: AsyncIterator[wire.ResponseStreamEvent]) -> wire.ResponseObject:
    """Returns the response in the last event of a complete stream."""
    async for event in events:
        if event["type"] in ("response.completed", "response.incomplete"):
            return event["response"]
    raise RuntimeError("the stream ended before the response did")


def cut(
    response: wire.ResponseObject, status: Literal["failed", "cancelled"], sequence_number: int = 0
) -> wire.ResponseFailedEvent:
    """Returns the last event of an incomplete response. OpenAI has no event for a cancelled one."""
    return {
        "type": "response.failed",
        "sequence_number": sequence_number,
        "response": {**response, "status": status},
    }


class _ChoiceOrder:
    """Orders segments by choice. The engine generates the choices concurrently, but a response lists their outputs one
    after the other."""

    def __init__(self) -> None:
        self._choice = 0
        self._waiting: defaultdict[int, list[Segment]] = defaultdict(list)

    def feed(self, segment: Segment) -> Iterator[Segment]:
        """Yields the segments that are due: those of a choice follow when all choices before it have finished."""
        if isinstance(segment, Started | Usage) or segment.choice == self._choice:
            yield segment
        else:
            self._waiting[segment.choice].append(segment)
        while isinstance(segment, Finish) and segment.choice == self._choice:
            self._choice += 1
            for segment in self._waiting.pop(self._choice, ()):
                yield segment


def usage_of(usage: Usage) -> wire.ResponseUsage:
    """Returns the engine's usage in the form of a response."""
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},  # decision 061
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }
