"""Whose turn it is, where many wait for one process."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Turns(Generic[Item]):
    """Holds what waits, at most `most` items. Clients take turns: who asks for much waits for itself alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._waiting: OrderedDict[str, deque[Item]] = OrderedDict()  # the next client's first; none is empty
        self._last: str | None = None  # whose turn it was

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def add(self, client: str, item: Item) -> Item | None:
        """Adds an item of a client. Returns the one that finds no room: the last of the client that has most."""
        self._waiting.setdefault(client, deque()).append(item)
        if len(self) <= self._most:
            return None
        # Of several that have as much it is this client: who came earlier isn't sent away.
        longest = max(self._waiting, key=lambda each: (len(self._waiting[each]), each == client))
        displaced = self._waiting[longest].pop()
        if not self._waiting[longest]:
            del self._waiting[longest]
        return displaced

    def take(self) -> Item | None:
        """Takes the first item of the client whose turn it is; None where nothing waits."""
        if not self._waiting:
            return None
        if self._last is not None and self._last in self._waiting:
            self._waiting.move_to_end(self._last)
        self._last, items = next(iter(self._waiting.items()))
        item = items.popleft()
        if not items:
            del self._waiting[self._last]
        return item

    def clear(self) -> list[Item]:
        """Takes all."""
        items = [item for each in self._waiting.values() for item in each]
        self._waiting.clear()
        return items
