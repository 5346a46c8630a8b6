"""The usage of chat and completions, and what of it a stream shows."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from pydantic import MISSING

from specvino.engine.segments import Usage
from specvino.generated import models, wire
from specvino.handlers.or_none import or_none

Chunk = TypeVar("Chunk", wire.ChatCompletionChunk, wire.CompletionChunk)


def to_wire(usage: Usage) -> wire.Usage:
    """Returns the usage as chat and completions show it."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def wanted(options: models.StreamOptions | None | MISSING) -> bool:
    """Returns whether a stream shall end with a chunk of the usage."""
    settings = or_none(options)
    return settings is not None and (or_none(settings.include_usage) or False)


async def shown(first: Chunk, rest: AsyncGenerator[Chunk], include_usage: bool) -> AsyncGenerator[Chunk]:
    """Yields what a stream shows: usage only where asked for, and then a null one in all chunks before the last."""
    async with aclosing(rest):
        if include_usage:
            first["usage"] = None
        yield first
        async for chunk in rest:
            if include_usage:
                chunk.setdefault("usage", None)
                yield chunk
            elif "usage" not in chunk:
                yield chunk
