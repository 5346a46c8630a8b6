"""Makes requests shorter that are too long for the context: drops the oldest turns of a conversation until it fits
(`truncation: auto` of responses, `truncate` in Ollama's API), or lowers the token limit of the answer.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import groupby

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import Engine
from specvino.engine.request import Conversation, GenerationRequest, Message
from specvino.engine.segments import Segment

KEPT = ("system", "developer")

# The sample, in characters, from which the size of a long message is estimated; no tokenizer truncates it.
_SAMPLE = 2000

Shorter = Callable[[GenerationRequest, ContextLengthExceeded], Awaitable[GenerationRequest | None]]
"""Returns a shorter request instead of one that is too long for the context; None if it can't be shorter."""


async def generate_fitting(engine: Engine, request: GenerationRequest, shorter: Shorter) -> AsyncGenerator[Segment]:
    """Yields the engine's segments for the request, made shorter until the context has room for it."""
    while True:
        try:
            async with aclosing(engine.generate(request)) as segments:
                async for segment in segments:
                    yield segment
            return
        except ContextLengthExceeded as error:
            possible = await shorter(request, error)
            if possible is None:
                raise
            request = possible


async def shorter_answer(request: GenerationRequest, error: ContextLengthExceeded) -> GenerationRequest | None:
    """Returns the request for answers that the context has room for, after the prompt that is too long for others."""
    tokens = error.prompt_tokens  # unknown with images: then the engine's own limit applies
    left = None if tokens is None else error.context_length - tokens
    settings = request.sampling
    if settings.max_tokens is None or (left is not None and left < 1):
        return None
    least = settings.min_tokens if left is None else min(settings.min_tokens, left)
    return replace(request, sampling=replace(settings, max_tokens=left, min_tokens=least))


def generate_shortened(engine: Engine, request: GenerationRequest) -> AsyncGenerator[Segment]:
    """Yields the engine's segments for the conversation, shortened if it is too long."""
    return generate_fitting(engine, request, partial(shorter_conversation, engine))


def shortened(messages: Sequence[Message], sizes: Sequence[int], excess: int) -> tuple[Message, ...] | None:
    """Returns the conversation without its oldest turns: at least one turn, and at least `excess` tokens.

    `sizes` are the messages' sizes in tokens. Returns None if nothing more can be dropped.

    A turn is a user's message with all messages that follow it. In the last turn, the user's message and the last
    answer with its tool results are kept; the answers between them are dropped like turns, calls together with their
    results. System messages always stay.
    """
    dropped: set[int] = set()
    for unit in _droppable(messages):
        dropped.update(unit)
        excess -= sum(sizes[index] for index in unit)
        if excess <= 0:
            break
    if not dropped:
        return None
    return tuple(message for index, message in enumerate(messages) if index not in dropped)


def always_kept(messages: Sequence[Message]) -> list[int]:
    """Returns the indexes of the messages that `shortened` never drops."""
    dropped = {index for unit in _droppable(messages) for index in unit}
    return [index for index in range(len(messages)) if index not in dropped]


async def shorter_conversation(
    engine: Engine, request: GenerationRequest, error: ContextLengthExceeded
) -> GenerationRequest | None:
    """Returns the request without the oldest turns of its conversation; None if no turn can be dropped, or if its
    prompt isn't a conversation.
    """
    (conversation,) = request.prompts
    if not isinstance(conversation, Conversation):
        return None
    contents = [message.content for message in conversation.messages]
    samples = [content[:_SAMPLE] for content in contents]
    tokens = await engine.tokenize(samples, add_special_tokens=False)
    sizes = [
        len(ids) * len(content) // (len(sample) or 1)
        for ids, content, sample in zip(tokens, contents, samples, strict=True)
    ]
    # With images the excess is unknown, so the conversation is shortened turn by turn. A prompt that is far too long
    # wasn't counted completely.
    counted = 0 if error.prompt_tokens is None else error.prompt_tokens + (error.max_tokens or 1)
    excess = max(1, counted - error.context_length, sum(sizes) - error.context_length)
    messages = shortened(conversation.messages, sizes, excess)
    if messages is None:
        return None
    return replace(request, prompts=(replace(conversation, messages=messages),))


def _droppable(messages: Sequence[Message]) -> list[list[int]]:
    """Returns the indexes of messages that are dropped together, the oldest first."""
    indexes = [index for index, message in enumerate(messages) if message.role not in KEPT]
    *turns, last = _split(messages, indexes, "user") or [[]]
    *answers, _ = _split(messages, last[1:], "assistant") or [[]]
    return [*turns, *answers]


def _split(messages: Sequence[Message], indexes: Sequence[int], role: str) -> list[list[int]]:
    """Splits before each message of a role; the messages before the first one are a separate piece."""
    count = 0

    def piece(index: int) -> int:
        nonlocal count
        count += messages[index].role == role
        return count

    return [list(group) for _, group in groupby(indexes, piece)]
