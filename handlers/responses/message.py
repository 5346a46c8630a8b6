"""A message among a response's output, with one text, and the events that build it."""

import uuid
from collections.abc import Iterator
from typing import Literal

from specvino.generated import wire


class MessageItem:
    """Opens itself with its first text. Its events have no numbers yet."""

    def __init__(self, output_index: int) -> None:
        self._index = output_index
        self._text: list[str] = []
        self._open = False
        self.item: wire.OutputMessage = {
            "id": f"msg_{uuid.uuid4().hex}",
            "type": "message",
            "status": "in_progress",
            "role": "assistant",
            "content": [],
        }

    def add(self, text: str) -> Iterator[wire.ResponseStreamEvent]:
        yield from self._opened()
        self._text.append(text)
        yield {
            "type": "response.output_text.delta",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "delta": text,
            "logprobs": [],
        }

    def end(self, status: Literal["completed", "incomplete"]) -> Iterator[wire.ResponseStreamEvent]:
        """Ends it also where it has no text: a response always holds a message."""
        yield from self._opened()
        text = "".join(self._text)
        yield {
            "type": "response.output_text.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "text": text,
            "logprobs": [],
        }
        yield {
            "type": "response.content_part.done",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "content_index": 0,
            "part": _part(text),
        }
        self.item = {**self.item, "status": status, "content": [_part(text)]}
        yield {
            "type": "response.output_item.done",
            "sequence_number": 0,
            "output_index": self._index,
            "item": self.item,
        }

    def _opened(self) -> Iterator[wire.ResponseStreamEvent]:
        if self._open:
            return
        self._open = True
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
            "part": _part(""),
        }


def _part(text: str) -> wire.OutputText:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
