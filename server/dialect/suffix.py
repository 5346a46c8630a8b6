"""A suffix that stands behind each text of a completion as it is, as MLC-LLM has it: the model doesn't see it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from specvino.generated.handlers import Reply


def appended(reply: Reply[Any], suffix: str) -> Reply[Any]:
    """Returns the reply with the suffix behind each text: in a stream as a chunk of its own behind all others, which
    tells the reasons of the ends again."""
    if isinstance(reply.body, AsyncGenerator):
        return replace(reply, body=_with_last_chunk(reply.body, suffix))
    for choice in reply.body["choices"]:
        choice["text"] += suffix
    return reply


async def _with_last_chunk(chunks: AsyncGenerator[Any], suffix: str) -> AsyncGenerator[Any]:
    reasons: dict[int, str] = {}
    async with aclosing(chunks):
        async for chunk in chunks:
            reasons |= {each["index"]: each["finish_reason"] for each in chunk["choices"] if each["finish_reason"]}
            yield chunk
    choices = [
        {"index": index, "text": suffix, "logprobs": None, "finish_reason": reason}
        for index, reason in sorted(reasons.items())
    ]
    yield {**chunk, "choices": choices, "usage": None}
