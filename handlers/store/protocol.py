"""What handlers ask of a store of responses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from specvino.generated import wire

StoredItem = dict[str, Any]
"""An item of an input or an output as JSON; it has an id."""

UNFINISHED = ("queued", "in_progress")


class StoreUnavailable(Exception):
    """The store can't be used now: broken, locked, full. `str()` says why, for the operator."""


@dataclass(frozen=True, slots=True)
class Record:
    """A response with its own input, and its events from the first one as JSON. See `ResponseStore` for its owner."""

    response: wire.ResponseObject
    input: Sequence[StoredItem]
    events: Sequence[bytes]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A response of a chain with its own input."""

    response: wire.ResponseObject
    input: list[StoredItem]


@dataclass(frozen=True, slots=True)
class Thread:
    """A response and those that it continues, the oldest first. `missing` is the one that the oldest would continue."""

    links: list[Link]
    missing: str | None


class ResponseStore(Protocol):
    """Every method may raise StoreUnavailable. What `add` and `finish` returned from outlives the process.

    A response belongs to an owner, empty where the server has no keys: for any other it isn't there.
    """

    @property
    def keeps(self) -> bool:
        """Whether it stores anything at all."""
        ...

    @property
    def place(self) -> str:
        """Where it stores, for the operator."""
        ...

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def add(self, record: Record) -> None:
        """Stores a new response. An unfinished one fails when this process ends before it is finished."""
        ...

    async def update(self, record: Record) -> bool:
        """Shows other servers how far an unfinished response is; False where it isn't there any more or was ended by
        another."""
        ...

    async def finish(self, record: Record) -> bool:
        """Stores how an unfinished response ended; False where it isn't there any more or was ended by another."""
        ...

    async def response(self, id: str, owner: str) -> wire.ResponseObject | None:
        """Returns a response, None where it isn't stored."""
        ...

    async def events(self, id: str, owner: str) -> list[bytes] | None:
        """Returns its events as JSON, None where it isn't stored."""
        ...

    async def thread(self, id: str, owner: str) -> Thread | None:
        """Returns a response with those that it continues, None where it isn't stored."""
        ...

    async def items(self, ids: Iterable[str], owner: str) -> dict[str, StoredItem]:
        """Returns the items of these ids, of any response of the owner; those that aren't there are left out."""
        ...

    async def delete(self, id: str, owner: str) -> bool:
        """Deletes a response; returns whether it was there."""
        ...
