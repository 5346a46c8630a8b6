"""State shared by the requests on one WebSocket: there, a response that isn't stored can be continued, too."""

from collections import OrderedDict
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from specvino.handlers.responses.persistence import LAST, Events
from specvino.handlers.store import StoredItem

# The number of responses that a session remembers, the newest ones.
_MOST = 16


class Session:
    """The conversations of the responses of one connection that aren't stored. They end with the connection."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, Sequence[StoredItem]] = OrderedDict()

    def items(self, id: str) -> Sequence[StoredItem] | None:
        """Returns all items of the conversation up to the response `id`, None if that isn't of this session."""
        return self._items.get(id)

    def remember(self, id: str, items: Sequence[StoredItem]) -> None:
        self._items[id] = items
        if len(self._items) > _MOST:
            self._items.popitem(last=False)

    def forget(self, id: str | None) -> None:
        """Forgets a response: a request that continues it has failed, and a client has to begin again."""
        if id is not None:
            self._items.pop(id, None)


@dataclass(frozen=True, slots=True)
class Turn:
    """One request of a session. Unless it `generates`, its response has no output, and only prepares the next one."""

    session: Session
    generates: bool = True

    async def following(self, events: Events, before: Sequence[StoredItem], previous_id: str | None) -> Events:
        """Yields the events of a response that isn't stored, and remembers its conversation: the items `before` it and
        its output."""
        async with aclosing(events):
            async for event in events:
                if event["type"] in LAST:
                    response = event["response"]
                    if response["status"] in ("completed", "incomplete"):
                        self.session.remember(response["id"], [*before, *map(dict, response["output"])])
                    else:
                        self.session.forget(previous_id)
                yield event
