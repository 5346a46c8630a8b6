"""The items of a response's output (messages, reasoning, calls) and the events that build them.

The events have no numbers yet: the emitter counts them.
"""

import json
import uuid
from collections.abc import Iterator
from typing import Literal

from specvino.engine.segments import TokenLogprob
from specvino.generated import wire
from specvino.handlers.logprobs import output_logprobs
from specvino.handlers.tools import CustomInput, OfferedTool

Status = Literal["completed", "incomplete"]


class MessageItem:
    """A message with one text."""

    def __init__(self, output_index: int, *, top_logprobs: int = 0) -> None:
        self._index = output_index
        self._text: list[str] = []
        self._logprobs: list[wire.OutputLogprob] = []
        self._top = top_logprobs
        self.item: wire.OutputMessage = {
            "id": f"msg_{uuid.uuid4().hex}",
            "type": "message",
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }

    def begin(self) -> Iterator[wire.ResponseStreamEvent]:
        yield _added(self._index, self.item)
        yield {
            "type": "response.content_part.added",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "part": _text_part("", []),
        }

    def add(self, text: str, tokens: tuple[TokenLogprob, ...] = ()) -> Iterator[wire.ResponseStreamEvent]:
        self._text.append(text)
        logprobs = output_logprobs(tokens, self._top)
        self._logprobs += logprobs
        yield {
            "type": "response.output_text.delta",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "delta": text,
            "logprobs": logprobs,
        }

    def end(self, status: Status, tokens: tuple[TokenLogprob, ...] = ()) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last events of the message; `tokens` are its last ones, which have no text."""
        self._logprobs += output_logprobs(tokens, self._top)
        text = "".join(self._text)
        part = _text_part(text, self._logprobs)
        yield {
            "type": "response.output_text.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "text": text,
            "logprobs": self._logprobs,
        }
        yield {
            "type": "response.content_part.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "part": part,
        }
        self.item = {**self.item, "status": status, "content": [part]}
        yield _done(self._index, self.item)


class ReasoningItem:
    """Reasoning, as the item's content or, if the request asks for one, as its `summary`."""

    def __init__(self, output_index: int, *, summary: bool) -> None:
        self._index = output_index
        self._summary = summary
        self._text: list[str] = []
        self.item: wire.OutputReasoning = {
            "id": f"rs_{uuid.uuid4().hex}",
            "type": "reasoning",
            "status": "in_progress",
            "summary": [],
            "content": [],
        }

    def begin(self) -> Iterator[wire.ResponseStreamEvent]:
        yield _added(self._index, self.item)
        if self._summary:
            yield {
                "type": "response.reasoning_summary_part.added",
                "sequence_number": 0,
                "item_id": self.item["id"],
                "output_index": self._index,
                "summary_index": 0,
                "part": {"type": "summary_text", "text": ""},
            }
        else:
            yield {
                "type": "response.content_part.added",
                "sequence_number": 0,
                "item_id": self.item["id"],
                "output_index": self._index,
                "content_index": 0,
                "part": {"type": "reasoning_text", "text": ""},
            }

    def add(self, text: str) -> Iterator[wire.ResponseStreamEvent]:
        self._text.append(text)
        if self._summary:
            yield {
                "type": "response.reasoning_summary_text.delta",
                "sequence_number": 0,
                "item_id": self.item["id"],
                "output_index": self._index,
                "summary_index": 0,
                "delta": text,
            }
        else:
            yield {
                "type": "response.reasoning_text.delta",
                "sequence_number": 0,
                "item_id": self.item["id"],
                "output_index": self._index,
                "content_index": 0,
                "delta": text,
            }

    def end(self, status: Status, tokens: tuple[TokenLogprob, ...] = ()) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last events of the item, which doesn't show `tokens`."""
        text = "".join(self._text)
        if self._summary:
            yield from self._end_summary({"type": "summary_text", "text": text})
        else:
            yield from self._end_content({"type": "reasoning_text", "text": text})
        self.item = {**self.item, "status": status}
        yield _done(self._index, self.item)

    def _end_content(self, part: wire.ReasoningTextContent) -> Iterator[wire.ResponseStreamEvent]:
        yield {
            "type": "response.reasoning_text.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "text": part["text"],
        }
        yield {
            "type": "response.content_part.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "part": part,
        }
        self.item = {**self.item, "content": [part]}

    def _end_summary(self, part: wire.SummaryTextContent) -> Iterator[wire.ResponseStreamEvent]:
        yield {
            "type": "response.reasoning_summary_text.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "summary_index": 0,
            "text": part["text"],
        }
        yield {
            "type": "response.reasoning_summary_part.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "summary_index": 0,
            "part": part,
        }
        self.item = {**self.item, "summary": [part]}


class CallItem:
    """A function call."""

    def __init__(self, output_index: int, tool: OfferedTool) -> None:
        self._index = output_index
        self._arguments: list[str] = []
        self.item: wire.OutputFunctionCall = {
            "id": f"fc_{uuid.uuid4().hex}",
            "type": "function_call",
            "status": "in_progress",
            "call_id": f"call_{uuid.uuid4().hex}",
            "name": tool.name,
            "arguments": "",
        }
        if tool.namespace:
            self.item["namespace"] = tool.namespace

    def begin(self) -> Iterator[wire.ResponseStreamEvent]:
        yield _added(self._index, self.item)

    def add(self, arguments: str) -> Iterator[wire.ResponseStreamEvent]:
        self._arguments.append(arguments)
        yield {
            "type": "response.function_call_arguments.delta",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "delta": arguments,
        }

    def end(self, status: Status, tokens: tuple[TokenLogprob, ...] = ()) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last events of the call, which doesn't show `tokens`."""
        arguments = "".join(self._arguments)
        yield {
            "type": "response.function_call_arguments.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "name": self.item["name"],
            "arguments": arguments,
        }
        self.item = {**self.item, "status": status, "arguments": arguments}
        yield _done(self._index, self.item)


class CustomCallItem:
    """A call of a custom tool."""

    def __init__(self, output_index: int, tool: OfferedTool) -> None:
        self._index = output_index
        self._reader = CustomInput()
        self._input: list[str] = []
        self._id = f"ctc_{uuid.uuid4().hex}"
        self.item: wire.OutputCustomToolCall = {
            "id": self._id,
            "type": "custom_tool_call",
            "status": "in_progress",
            "call_id": f"call_{uuid.uuid4().hex}",
            "name": tool.name,
            "input": "",
        }
        if tool.namespace:
            self.item["namespace"] = tool.namespace

    def begin(self) -> Iterator[wire.ResponseStreamEvent]:
        yield _added(self._index, self.item)

    def add(self, arguments: str) -> Iterator[wire.ResponseStreamEvent]:
        yield from self._add(self._reader.feed(arguments))

    def end(self, status: Status, tokens: tuple[TokenLogprob, ...] = ()) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last events of the call, which doesn't show `tokens`."""
        yield from self._add(self._reader.end())
        input = "".join(self._input)
        yield {
            "type": "response.custom_tool_call_input.done",
            "sequence_number": 0,
            "item_id": self._id,
            "output_index": self._index,
            "input": input,
        }
        self.item = {**self.item, "status": status, "input": input}
        yield _done(self._index, self.item)

    def _add(self, text: str) -> Iterator[wire.ResponseStreamEvent]:
        if text:
            self._input.append(text)
            yield {
                "type": "response.custom_tool_call_input.delta",
                "sequence_number": 0,
                "item_id": self._id,
                "output_index": self._index,
                "delta": text,
            }


class ToolSearchCallItem:
    """A search for tools, which the client executes. Its arguments aren't streamed."""

    def __init__(self, output_index: int) -> None:
        self._index = output_index
        self._arguments: list[str] = []
        self.item: wire.OutputToolSearchCall = {
            "id": f"tsc_{uuid.uuid4().hex}",
            "type": "tool_search_call",
            "status": "in_progress",
            "call_id": f"call_{uuid.uuid4().hex}",
            "execution": "client",
            "arguments": {},
        }

    def begin(self) -> Iterator[wire.ResponseStreamEvent]:
        yield _added(self._index, self.item)

    def add(self, arguments: str) -> Iterator[wire.ResponseStreamEvent]:
        self._arguments.append(arguments)
        yield from ()

    def end(self, status: Status, tokens: tuple[TokenLogprob, ...] = ()) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last event of the call, which doesn't show `tokens`; incomplete arguments are left out."""
        self.item = {**self.item, "status": status}
        if status == "completed":
            self.item["arguments"] = json.loads("".join(self._arguments) or "{}")
        yield _done(self._index, self.item)


def call_item(output_index: int, tool: OfferedTool) -> CallItem | CustomCallItem | ToolSearchCallItem:
    """Returns the item of a call of the tool."""
    match tool.kind:
        case "function":
            return CallItem(output_index, tool)
        case "custom":
            return CustomCallItem(output_index, tool)
        case "tool_search":
            return ToolSearchCallItem(output_index)


Item = MessageItem | ReasoningItem | CallItem | CustomCallItem | ToolSearchCallItem

_Item = (
    wire.OutputMessage
    | wire.OutputReasoning
    | wire.OutputFunctionCall
    | wire.OutputCustomToolCall
    | wire.OutputToolSearchCall
    | wire.OutputCompaction
)


def _added(output_index: int, item: _Item) -> wire.ResponseStreamEvent:
    return {
        "type": "response.output_item.added",
        "sequence_number": 0,
        "output_index": output_index,
        "item": item,
    }


def _done(output_index: int, item: _Item) -> wire.ResponseStreamEvent:
    return {
        "type": "response.output_item.done",
        "sequence_number": 0,
        "output_index": output_index,
        "item": item,
    }


def _text_part(text: str, logprobs: list[wire.OutputLogprob]) -> wire.OutputTextContent:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs}


def whole_item(output_index: int, item: wire.OutputCompaction) -> Iterator[wire.ResponseStreamEvent]:
    """Yields the events of an item that is complete from the beginning."""
    yield _added(output_index, item)
    yield _done(output_index, item)
