"""`truncation: auto`: the oldest turns are left out of a conversation until it fits."""

from collections.abc import Sequence
from itertools import groupby

from specvino.engine.request import Message

KEPT = ("system", "developer")


def shortened(messages: Sequence[Message], sizes: Sequence[int], excess: int) -> tuple[Message, ...] | None:
    """The conversation without its oldest turns, at least one of them and at least `excess` in size; None where only
    what must stay is left.

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


def _droppable(messages: Sequence[Message]) -> list[list[int]]:
    """The places of messages that go together, the oldest first."""
    indexes = [index for index, message in enumerate(messages) if message.role not in KEPT]
    *turns, last = _split(messages, indexes, "user") or [[]]
    *answers, _ = _split(messages, last[1:], "assistant") or [[]]
    return [*turns, *answers]


def _split(messages: Sequence[Message], indexes: Sequence[int], role: str) -> list[list[int]]:
    """In pieces that begin with a message of a role; what stands before the first one is a piece too."""
    count = 0

    def piece(index: int) -> int:
        nonlocal count
        count += messages[index].role == role
        return count

    return [list(group) for _, group in groupby(indexes, piece)]
