"""`truncation: auto`: the oldest turns are left out of a conversation until it fits."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from itertools import groupby

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import Engine
from specvino.engine.request import Conversation, GenerationRequest, Message
from specvino.engine.segments import Segment

KEPT = ("system", "developer")

# How many characters of a long message tell its size. No tokenizer makes so many tokens of them that it truncates.
_SAMPLE = 2000


async def generate_shortened(engine: Engine, request: GenerationRequest) -> AsyncGenerator[Segment]:
    """Yields the engine's segments; where the conversation is too long, those of as much of it as fits."""
    while True:
        try:
            async with aclosing(engine.generate(request)) as segments:
                async for segment in segments:
                    yield segment
            return
        except ContextLengthExceeded as error:
            shorter = await _shorter(engine, request, error)
            if shorter is None:
                raise
            request = shorter


def shortened(messages: Sequence[Message], sizes: Sequence[int], excess: int) -> tuple[Message, ...] | None:
    """Returns the conversation without its oldest turns, at least one of them and at least `excess` in size.

    Returns None where only what must stay is left.

    A turn is a user's message with all that follows it. Of the last one the message itself stays, and the last answer
    with the results of its calls; what is between goes like turns, a call never without its results. System messages
    always stay.
    """
    dropped: set[int] = set()
    for unit in _droppable(messages):
        dropped.update(unit)
        if sum(sizes[index] for index in dropped) >= excess:
            break
    if not dropped:
        return None
    return tuple(message for index, message in enumerate(messages) if index not in dropped)


async def _shorter(
    engine: Engine, request: GenerationRequest, error: ContextLengthExceeded
) -> GenerationRequest | None:
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
    # With images nobody knows how much too long it is: then it gets shorter little by little. What is much too long was
    # not counted to its end.
    counted = 0 if error.prompt_tokens is None else error.prompt_tokens + (error.max_tokens or 1)
    excess = max(1, counted - error.context_length, sum(sizes) - error.context_length)
    messages = shortened(conversation.messages, sizes, excess)
    if messages is None:
        return None
    return replace(request, prompts=(replace(conversation, messages=messages),))


def _droppable(messages: Sequence[Message]) -> list[list[int]]:
    """Returns the places of messages that go together, the oldest first."""
    indexes = [index for index, message in enumerate(messages) if message.role not in KEPT]
    *turns, last = _split(messages, indexes, "user") or [[]]
    *answers, _ = _split(messages, last[1:], "assistant") or [[]]
    return [*turns, *answers]


def _split(messages: Sequence[Message], indexes: Sequence[int], role: str) -> list[list[int]]:
    """Splits at each message of a role; what stands before the first one is a piece too."""
    count = 0

    def piece(index: int) -> int:
        nonlocal count
        count += messages[index].role == role
        return count

    return [list(group) for _, group in groupby(indexes, piece)]
