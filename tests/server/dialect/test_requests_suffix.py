"""A suffix stands behind each text, in a stream behind everything."""

import asyncio
from typing import Any

from specvino.generated.handlers import Reply
from specvino.server.dialect.requests import appended


def choice(index: int, text: str, reason: str | None = None) -> dict[str, Any]:
    return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}


def test_it_stands_behind_each_text() -> None:
    reply = appended(Reply({"choices": [choice(0, "a", "stop"), choice(1, "b", "length")]}), "!")
    assert [choice["text"] for choice in reply.body["choices"]] == ["a!", "b!"]


def test_it_is_the_last_chunk_of_a_stream() -> None:
    sent = [
        {"id": "cmpl-1", "choices": [choice(1, "b", "length")]},
        {"id": "cmpl-1", "choices": [choice(0, "a", "stop")]},
        {"id": "cmpl-1", "choices": [], "usage": {"total_tokens": 3}},
    ]

    async def chunks() -> Any:
        for request in sent:
            yield request

    async def run() -> list[Any]:
        return [chunk async for chunk in appended(Reply(chunks()), "!").body]

    *before, last = asyncio.run(run())
    assert before == sent
    assert last == {"id": "cmpl-1", "choices": [choice(0, "!", "stop"), choice(1, "!", "length")], "usage": None}
