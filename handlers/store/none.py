"""A store that keeps nothing."""

from collections.abc import Iterable

from specvino.generated import wire
from specvino.handlers.store.protocol import Record, StoredItem, Thread


class NoStore:
    keeps = False
    place = "nowhere"

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

    async def items(self, ids: Iterable[str], owner: str) -> dict[str, StoredItem]:
        return {}

    async def delete(self, id: str, owner: str) -> bool:
        return False
