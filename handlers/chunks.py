"""Common parts of chat and completion chunks: id, token ids, usage and stop reason."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from specvino.engine.segments import Segment, Started, TokenIds, Usage
from specvino.generated import models, wire
from specvino.generated.handlers import RequestContext
from specvino.handlers.fields import or_none

Body = models.CreateChatCompletionRequest | models.CreateCompletionRequest
Chunk = TypeVar("Chunk", wire.ChatCompletionChunk, wire.CompletionChunk)


def answer_id(prefix: str, request_id: str | None) -> str:
    """Returns a new id with the prefix, or the request's own `request_id`, with the prefix added unless it has it."""
    if not request_id:
        return f"{prefix}{uuid.uuid4().hex}"
    return request_id if request_id.startswith(prefix) else f"{prefix}{request_id}"


def shows_stop_reason(context: RequestContext, body: Body) -> bool:
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


def counts_tokens(body: Body) -> bool:
    """Returns whether the answer is a stream whose chunks have the usage up to them."""
    options = or_none(body.stream_options)
    return options is not None and (or_none(options.continuous_usage_stats) or False)


def streamed(feed: Callable[[Segment], Iterable[Chunk]], body: Body) -> Callable[[Segment], Iterable[Chunk]]:
    """Returns `feed` with the usage of a stream, as the body's `stream_options` request it: a last chunk, and in all
    chunks before it null, or the usage so far.
    """
    options = or_none(body.stream_options)
    include_usage = options is not None and (or_none(options.include_usage) or False)
    so_far = Usage(0, 0) if counts_tokens(body) else None

    def fed(segment: Segment) -> Iterable[Chunk]:
        nonlocal so_far
        if isinstance(segment, Usage) and not include_usage:
            return ()
        if not include_usage and so_far is None:
            return feed(segment)
        if so_far is not None and isinstance(segment, Started):
            so_far = replace(so_far, prompt_tokens=segment.prompt_tokens)
        if so_far is not None and isinstance(segment, TokenIds):
            so_far = replace(so_far, completion_tokens=so_far.completion_tokens + len(segment.ids))
        chunks = list(feed(segment))
        for chunk in chunks:
            chunk.setdefault("usage", None if so_far is None else usage_to_wire(so_far))
        return chunks

    return fed
