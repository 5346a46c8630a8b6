"""A message among a response's output, with one text, and the events that build it."""

import uuid
from collections.abc import Iterator
from typing import Literal

from specvino.engine.segments import TokenLogprob
from specvino.generated import wire
from specvino.handlers.logprobs import output_logprobs


class MessageItem:
    """A message's item. Its events have no numbers yet."""

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
        yield {
            "type": "response.output_item.added",
            "sequence_number": 0,
            "output_index": self._index,
            "item": self.item,
        }
        yield {
            "type": "response.content_part.added",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "part": _part("", []),
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

    def end(
        self, status: Literal["completed", "incomplete"], tokens: tuple[TokenLogprob, ...] = ()
    ) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last events of the message; `tokens` are its last, without text."""
        self._logprobs += output_logprobs(tokens, self._top)
        text = "".join(self._text)
        part = _part(text, self._logprobs)
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
        yield {
            "type": "response.output_item.done",
            "sequence_number": 0,
            "output_index": self._index,
            "item": self.item,
        }


def _part(text: str, logprobs: list[wire.OutputLogprob]) -> wire.OutputTextContent:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs}
