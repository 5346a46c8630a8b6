"""Common parts of chat and completion chunks: id, token ids, usage and stop reason."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeVar

from pydantic import MISSING

from specvino.engine.segments import Segment, TokenIds, Usage
from specvino.generated import models, wire
from specvino.generated.handlers import RequestContext
from specvino.handlers.or_none import or_none

Chunk = TypeVar("Chunk", wire.ChatCompletionChunk, wire.CompletionChunk)


def answer_id(prefix: str, request_id: str | None) -> str:
    """Returns a new id with the prefix, or the request's own `request_id`, with the prefix added unless it has it."""
    if not request_id:
        return f"{prefix}{uuid.uuid4().hex}"
    return request_id if request_id.startswith(prefix) else f"{prefix}{request_id}"


def shows_stop_reason(
    context: RequestContext, body: models.CreateChatCompletionRequest | models.CreateCompletionRequest
) -> bool:
    """Returns whether the answer's choices have a stop_reason. It is a field of vLLM: requests with vLLM's stop
    settings get it, and all requests to a server that sends extensions.
    """
    stop_settings = or_none(body.stop_token_ids) is not None or or_none(body.include_stop_str_in_output) is not None
    return stop_settings or context.extensions


class PendingTokens:
    """Token ids for the next chunk of each choice."""

    def __init__(self) -> None:
        self._waiting: defaultdict[int, list[int]] = defaultdict(list)

    def add(self, segment: TokenIds) -> None:
        self._waiting[segment.choice] += segment.ids

    def take(self, choice: int) -> list[int]:
        """Returns and removes the choice's pending ids."""
        return self._waiting.pop(choice, [])


def usage_to_wire(usage: Usage) -> wire.Usage:
    """Returns the usage in the format of chat and completions."""
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


def streamed(
    feed: Callable[[Segment], Iterable[Chunk]], options: models.StreamOptions | None | MISSING
) -> Callable[[Segment], Iterable[Chunk]]:
    """Returns `feed` with the usage of a stream: if `options` request it, a last chunk, and null in all chunks before
    it; else none.
    """
    settings = or_none(options)
    include_usage = settings is not None and (or_none(settings.include_usage) or False)

    def fed(segment: Segment) -> Iterable[Chunk]:
        if not include_usage:
            return () if isinstance(segment, Usage) else feed(segment)
        chunks = list(feed(segment))
        for chunk in chunks:
            chunk.setdefault("usage", None)
        return chunks

    return fed
