"""A queue in which clients take turns, and so do the requests of a client."""

import math
from bisect import insort
from collections import OrderedDict
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


class Turns(Generic[Item]):
    """A queue of at most `most` items in which clients take turns: a client with many items only delays itself. Within
    a client, the next item is the one that would be finished first if all of its requests were served at the same time:
    a cheap item needn't wait for expensive ones of other requests, and no item waits forever.
    """

    def __init__(self, most: float = math.inf) -> None:
        self._most = most
        self._waiting: OrderedDict[str, _Requests[Item]] = OrderedDict()  # the next client's first; none is empty
        self._last: str | None = None  # the last client

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def add(self, client: str, request: str, item: Item, cost: float = 1) -> Item | None:
        """Adds an item. If the queue is full, returns the item that is dropped: the last one of the client with the
        most.
        """
        self._waiting.setdefault(client, _Requests()).add(request, item, cost)
        if len(self) <= self._most:
            return None
        # In case of a tie, this client's item is dropped.
        longest = max(self._waiting, key=lambda other: (len(self._waiting[other]), other == client))
        displaced = self._waiting[longest].drop()
        self._forget(longest)
        return displaced

    def take(self) -> Item | None:
        """Removes and returns the first item of the next client; None if the queue is empty."""
        if not self._waiting:
            return None
        if self._last is not None and self._last in self._waiting:
            self._waiting.move_to_end(self._last)
        self._last, requests = next(iter(self._waiting.items()))
        item = requests.take()
        self._forget(self._last)
        return item

    def clear(self) -> list[Item]:
        """Removes and returns all items."""
        items = [entry.item for requests in self._waiting.values() for entry in requests.waiting]
        self._waiting.clear()
        return items

    def _forget(self, client: str) -> None:
        if not self._waiting[client]:
            del self._waiting[client]


class _Entry(NamedTuple, Generic[Item]):
    end: float
    request: str
    item: Item
    cost: float


class _Requests(Generic[Item]):
    """The items of a client, in the order of weighted fair queueing (A. Demers, S. Keshav, S. Shenker: Analysis and
    simulation of a fair queueing algorithm, 1989). Its clock is the cost that each request would have been served if
    all were served at the same time.
    """

    def __init__(self) -> None:
        self.waiting: list[_Entry[Item]] = []  # the first to be finished first
        self._clock = 0.0
        self._ends: dict[str, float] = {}  # when the last item of a request is finished, by this clock

    def __len__(self) -> int:
        return len(self.waiting)

    def add(self, request: str, item: Item, cost: float) -> None:
        end = max(self._clock, self._ends.get(request, 0)) + cost
        self._ends[request] = end
        insort(self.waiting, _Entry(end, request, item, cost), key=lambda entry: entry.end)

    def take(self) -> Item:
        """Removes and returns the first item."""
        entry = self.waiting.pop(0)
        self._clock += entry.cost / len(self._ends)
        waiting = {other.request for other in self.waiting}
        self._ends = {one: end for one, end in self._ends.items() if end > self._clock or one in waiting}
        return entry.item

    def drop(self) -> Item:
        """Removes and returns the last item."""
        entry = self.waiting.pop()
        self._ends[entry.request] = entry.end - entry.cost
        return entry.item
