"""The protocols of a store of responses, conversations and accounts of keys, and the store that keeps nothing."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from specvino.generated import wire

StoredItem = dict[str, Any]
"""An item of an input or an output as JSON; it has an id."""

UNFINISHED = ("queued", "in_progress")


MOST_LINKS = 1000
MOST_ITEMS = 8192
MOST_BYTES = 32 * 2**20
"""The bounds of what a request continues or refers to: responses in a chain, items, and bytes of JSON. They are in
memory at once, and the event loop validates them: 8,192 items take 0.13 s."""

PAGE_BYTES = 8 * 2**20
"""The bytes of a page of items, unless its first item is larger."""


class StoreUnavailable(Exception):
    """The store can't be used now: broken, locked or full. `str()` is the reason, for the operator."""


class StoreUnusable(StoreUnavailable):
    """The store can't be used, and another try won't change that: no database, no access to it, or newer tables."""


class TooLarge(Exception):
    """What a request continues or refers to exceeds MOST_LINKS, MOST_ITEMS or MOST_BYTES. `str()` is a clause."""


@dataclass(frozen=True, slots=True)
class Record:
    """A response with its own input, and its events from the first one on as JSON. `ResponseStore` explains `owner`."""

    response: wire.ResponseObject
    input: Sequence[StoredItem]
    events: Sequence[bytes]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A response of a chain with its own input. Of a deleted one that others continue, only id and output are left."""

    response: wire.ResponseObject
    input: list[StoredItem]


@dataclass(frozen=True, slots=True)
class Thread:
    """A response and those that it continues, the oldest first. If the oldest one continues a response that isn't
    stored, `missing` is its id; otherwise None.
    """

    links: list[Link]
    missing: str | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its items. `created_at` is in Unix seconds."""

    id: str
    created_at: int
    metadata: Mapping[str, str]


class Page(NamedTuple):
    """A part of a list of items, and whether more follow. It has at most PAGE_BYTES, so it may be shorter than was
    asked for, but not empty if there are more."""

    items: list[StoredItem]
    has_more: bool


@dataclass(slots=True)
class Account:
    """A key's usage. `requests` and `tokens` are the times, in seconds of the clock of `now`, at which it has all of
    its requests and tokens again. `running` sequences of it run on this server, `elsewhere` on others."""

    now: float = 0.0
    requests: float = 0.0
    tokens: float = 0.0
    running: int = 0
    elsewhere: int = 0


class Accounts(Protocol):
    """Storage of accounts, by the owners of keys."""

    async def change(self, owner: str, act: Callable[[Account], None]) -> None:
        """Calls `act` with an owner's account, and keeps what it changes unless it raises; nobody else changes the
        account meanwhile. Raises StoreUnavailable, possibly after `act` was called."""
        ...


class OwnAccounts:
    """Accounts (`Accounts`) in the memory of this server, by owner, where no other server shares them. `clock` returns
    Unix seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.accounts: dict[str, Account] = {}

    async def change(self, owner: str, act: Callable[[Account], None]) -> None:
        account = replace(self.accounts.get(owner, Account()), now=self._clock())
        act(account)
        self.accounts[owner] = account


class ConversationStore(Protocol):
    """A store of conversations. Every method may raise StoreUnavailable. When one returns, its change is on the disk.

    A conversation belongs to an owner, as a response does.
    """

    async def create(self, items: Sequence[StoredItem], metadata: Mapping[str, str], owner: str) -> Conversation:
        """Stores a new conversation with these items."""
        ...

    async def get(self, id: str, owner: str) -> Conversation | None:
        """Returns a conversation, None if it isn't stored."""
        ...

    async def describe(self, id: str, metadata: Mapping[str, str], owner: str) -> Conversation | None:
        """Replaces a conversation's metadata, and returns the conversation, None if it isn't stored."""
        ...

    async def delete(self, id: str, owner: str) -> bool:
        """Deletes a conversation with its items; returns whether it was stored."""
        ...

    async def add(self, id: str, items: Sequence[StoredItem], owner: str) -> list[StoredItem] | None:
        """Adds items at the end of a conversation, all or none. An item whose id the conversation already has gets
        another one. Returns the items as they are stored, None if the conversation isn't stored."""
        ...

    async def items(self, id: str, owner: str) -> list[StoredItem] | None:
        """Returns a conversation's items, the oldest first; None if the conversation isn't stored. Raises TooLarge."""
        ...

    async def page(self, id: str, owner: str, after: str | None, limit: int, *, newest_first: bool) -> Page | None:
        """Returns at most `limit` items of a conversation, those after the item `after` in this order; None if the
        conversation isn't stored. Raises LookupError if it has no item `after`."""
        ...

    async def item(self, id: str, item_id: str, owner: str) -> StoredItem | None:
        """Returns an item of a conversation, None if it isn't stored."""
        ...

    async def remove(self, id: str, item_id: str, owner: str) -> bool:
        """Deletes an item of a conversation; returns whether it was stored."""
        ...


class ResponseStore(Protocol):
    """A store of responses, and of conversations. Every method may raise StoreUnavailable. When `add` or `finish`
    returns, the response is on the disk.

    A response belongs to an owner, the empty string if the server has no keys. It doesn't exist for other owners.
    """

    @property
    def keeps(self) -> bool:
        """Whether it stores anything at all."""
        ...

    @property
    def location(self) -> str:
        """Its location, for the operator."""
        ...

    @property
    def conversations(self) -> ConversationStore: ...

    @property
    def accounts(self) -> Accounts | None:
        """The accounts that servers with this store share; None if it keeps nothing."""
        ...

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def add(self, record: Record) -> None:
        """Stores a new response. An unfinished one fails if this process ends before it is finished."""
        ...

    async def update(self, record: Record) -> bool:
        """Stores the progress of an unfinished response; returns False if it was deleted or ended by another server."""
        ...

    async def finish(self, record: Record) -> bool:
        """Stores the result of an unfinished response; returns False if it was deleted or ended by another server."""
        ...

    async def response(self, id: str, owner: str) -> wire.ResponseObject | None:
        """Returns a response, None if it isn't stored."""
        ...

    async def events(self, id: str, owner: str) -> list[bytes] | None:
        """Returns a response's events as JSON, None if it isn't stored."""
        ...

    async def thread(self, id: str, owner: str) -> Thread | None:
        """Returns a response with those that it continues, None if it isn't stored. Raises TooLarge."""
        ...

    async def input_page(
        self, id: str, owner: str, after: str | None, limit: int, *, newest_first: bool
    ) -> Page | None:
        """Returns at most `limit` items that a response received, of those that it continues and its own input: those
        after the item `after` in this order; None if the response isn't stored. Raises LookupError if it received no
        item `after`."""
        ...

    async def items(self, ids: Iterable[str], owner: str) -> dict[str, StoredItem]:
        """Returns the items with these ids, of any response or conversation of the owner; items that aren't stored are
        left out. Raises TooLarge."""
        ...

    async def delete(self, id: str, owner: str) -> bool:
        """Deletes a response; returns whether it was stored. It stays a part of the conversations that continue it."""
        ...


class NoConversations:
    """A store in which there are no conversations."""

    async def create(self, items: Sequence[StoredItem], metadata: Mapping[str, str], owner: str) -> Conversation:
        raise StoreUnavailable("it keeps nothing")

    async def get(self, id: str, owner: str) -> Conversation | None:
        return None

    async def describe(self, id: str, metadata: Mapping[str, str], owner: str) -> Conversation | None:
        return None

    async def delete(self, id: str, owner: str) -> bool:
        return False

    async def add(self, id: str, items: Sequence[StoredItem], owner: str) -> list[StoredItem] | None:
        return None

    async def items(self, id: str, owner: str) -> list[StoredItem] | None:
        return None

    async def page(self, id: str, owner: str, after: str | None, limit: int, *, newest_first: bool) -> Page | None:
        return None

    async def item(self, id: str, item_id: str, owner: str) -> StoredItem | None:
        return None

    async def remove(self, id: str, item_id: str, owner: str) -> bool:
        return False


class NoStore:
    """A store that keeps nothing."""

    keeps = False
    location = "nowhere"
    conversations: ConversationStore = NoConversations()
    accounts: Accounts | None = None

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def add(self, record: Record) -> None:
        pass

    async def update(self, record: Record) -> bool:
        return True

    async def finish(self, record: Record) -> bool:
        return False

    async def response(self, id: str, owner: str) -> wire.ResponseObject | None:
        return None

    async def events(self, id: str, owner: str) -> list[bytes] | None:
        return None

    async def thread(self, id: str, owner: str) -> Thread | None:
        return None

    async def input_page(
        self, id: str, owner: str, after: str | None, limit: int, *, newest_first: bool
    ) -> Page | None:
        return None

    async def items(self, ids: Iterable[str], owner: str) -> dict[str, StoredItem]:
        return {}

    async def delete(self, id: str, owner: str) -> bool:
        return False
