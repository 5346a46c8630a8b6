"""A reasoning item among a response's output, and the events that build it."""

import uuid
from collections.abc import Iterator
from typing import Literal

from specvino.engine.segments import TokenLogprob
from specvino.generated import wire


class ReasoningItem:
    """Builds a reasoning item; its events have no numbers yet.

    The reasoning is the item's content or, where the request asks for one, its `summary`.
    """

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
            "encrypted_content": None,
        }

    def begin(self) -> Iterator[wire.ResponseStreamEvent]:
        yield {
            "type": "response.output_item.added",
            "sequence_number": 0,
            "output_index": self._index,
            "item": self.item,
        }
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

    def end(
        self, status: Literal["completed", "incomplete"], tokens: tuple[TokenLogprob, ...] = ()
    ) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last events of the item; `tokens` have no place in it."""
        text = "".join(self._text)
        if self._summary:
            yield from self._end_summary({"type": "summary_text", "text": text})
        else:
            yield from self._end_content({"type": "reasoning_text", "text": text})
        self.item = {**self.item, "status": status}
        yield {
            "type": "response.output_item.done",
            "sequence_number": 0,
            "output_index": self._index,
            "item": self.item,
        }

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
