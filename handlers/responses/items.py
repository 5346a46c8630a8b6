"""The items of an input as they are stored and shown: each with an id, contents as lists of parts."""

import uuid
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, TypeAdapter

from specvino.handlers.responses.input import InputItem
from specvino.handlers.store import StoredItem

PREFIXES = {"message": "msg", "function_call": "fc", "function_call_output": "fco", "reasoning": "rs"}

_ITEMS: TypeAdapter[list[InputItem]] = TypeAdapter(list[InputItem])


def stored(input: str | Iterable[InputItem]) -> list[StoredItem]:
    """Returns an input as it is stored."""
    if isinstance(input, str):
        return [_whole({"type": "message", "role": "user", "content": input})]
    return [_whole(_plain(item)) for item in input]


def read(items: Iterable[StoredItem]) -> list[InputItem]:
    """Returns stored items, of an input or an output, as those of an input."""
    return _ITEMS.validate_python(list(items))


def _plain(item: BaseModel) -> dict[str, Any]:
    return item.model_dump(by_alias=True)


def _whole(item: dict[str, Any]) -> StoredItem:
    kind = item.get("type", "message")
    item = {**item, "type": kind, "id": item.get("id") or f"{PREFIXES.get(kind, 'item')}_{uuid.uuid4().hex}"}
    if kind in PREFIXES:
        item["status"] = item.get("status") or "completed"
    if isinstance(text := item.get("content"), str):
        item["content"] = [_text(text, item["role"])]
    return item


def _text(text: str, role: str) -> dict[str, Any]:
    if role == "assistant":
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "input_text", "text": text}
