"""The usage of chat and completions, and what of it a stream shows."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from pydantic import MISSING

from specvino.engine.segments import Segment, Usage
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


def shown(feed: Callable[[Segment], Iterable[Chunk]], include_usage: bool) -> Callable[[Segment], Iterable[Chunk]]:
    """Returns what makes the chunks that a stream shows of those that `feed` makes: usage only where asked for, and
    then a null one in all chunks before the last."""

    def fed(segment: Segment) -> Iterable[Chunk]:
        if not include_usage:
            return () if isinstance(segment, Usage) else feed(segment)
        chunks = list(feed(segment))
        for chunk in chunks:
            chunk.setdefault("usage", None)
        return chunks

    return fed
