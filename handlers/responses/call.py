"""A function's call among a response's output, and the events that build it."""

import uuid
from collections.abc import Iterator
from typing import Literal

from specvino.engine.segments import TokenLogprob
from specvino.generated import wire


class CallItem:
    """A function call's item. Its events have no numbers yet."""

    def __init__(self, output_index: int, name: str) -> None:
        self._index = output_index
        self._arguments: list[str] = []
        self.item: wire.OutputFunctionCall = {
            "id": f"fc_{uuid.uuid4().hex}",
            "type": "function_call",
            "status": "in_progress",
            "call_id": f"call_{uuid.uuid4().hex}",
            "name": name,
            "arguments": "",
        }

    def begin(self) -> Iterator[wire.ResponseStreamEvent]:
        yield {
            "type": "response.output_item.added",
            "sequence_number": 0,
            "output_index": self._index,
            "item": self.item,
        }

    def add(self, arguments: str) -> Iterator[wire.ResponseStreamEvent]:
        self._arguments.append(arguments)
        yield {
            "type": "response.function_call_arguments.delta",
            "sequence_number": 0,
            "item_id": self.item["id"],
            "output_index": self._index,
            "delta": arguments,
        }

    def end(
        self, status: Literal["completed", "incomplete"], tokens: tuple[TokenLogprob, ...] = ()
    ) -> Iterator[wire.ResponseStreamEvent]:
        """Yields the last events of the call; `tokens` have no place in it."""
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
        yield {
            "type": "response.output_item.done",
            "sequence_number": 0,
            "output_index": self._index,
            "item": self.item,
        }
