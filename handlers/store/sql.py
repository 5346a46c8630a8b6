"""Responses in a database, through SQLAlchemy."""

import asyncio
import logging
import uuid
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from types import MappingProxyType
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Row, delete, func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.generated import wire
from specvino.handlers.store.accounts import SqlAccounts, tidy
from specvino.handlers.store.clean_up import BYTES, delete_surplus, prune, prune_old
from specvino.handlers.store.conversations import SqlConversations, expire, referenced
from specvino.handlers.store.database import Database, batched, now
from specvino.handlers.store.outage import Outage
from specvino.handlers.store.protocol import UNFINISHED, Link, Page, Record, StoredItem, StoreUnavailable, Thread
from specvino.handlers.store.quota import Retention, groups
from specvino.handlers.store.raw_items import (
    RawItem,
    id_of,
    on_a_page,
    raw_items,
    raw_output,
    require_bounded,
    sizes_of,
)
from specvino.handlers.store.schema import ITEMS, RESPONSES, SERVERS

# Seconds between two heartbeats of a server, and between two clean-ups; and seconds without a heartbeat until it counts
# as lost.
BEAT = 5.0
LOST_AFTER = 20.0

_RETENTION = Retention()

_SHOWN = ~RESPONSES.c.hidden

logger = logging.getLogger("specvino.store")

_encode = msgspec.json.encode
_decode = msgspec.json.decode


class SqlStore:
    """A ResponseStore at a SQLAlchemy URL that keeps responses and conversations as long and as many as `retention`
    says, or for some owners their `own`: a chain of responses as long as its newest one, a conversation from its last
    change on. A server without a heartbeat for `lost_after` seconds counts as lost.

    Raises ValueError for an invalid URL.
    """

    def __init__(
        self,
        url: str,
        *,
        retention: Retention = _RETENTION,
        own: Mapping[str, Retention] = MappingProxyType({}),
        lost_after: float = LOST_AFTER,
    ) -> None:
        self._database = Database(url)
        self.conversations = SqlConversations(self._database)
        self._groups = groups(retention, own)
        self._lost_after = lost_after
        self._id = uuid.uuid4().hex
        self.accounts = SqlAccounts(self._database, self._id)
        self._is_alone = False
        self._upkeep: list[asyncio.Task[None]] = []

    keeps = True

    @property
    def location(self) -> str:
        return self._database.location

    async def open(self) -> None:
        await self._keep_up()
        # Apart, since a clean-up may take minutes, after which other servers would count this one as lost.
        heartbeat = Outage(logger, "the store of responses is unavailable", "the store of responses is available again")
        clean_up = Outage(
            logger, "the store of responses can't be cleaned up", "the store of responses can be cleaned up again"
        )
        self._upkeep = [
            asyncio.create_task(_always(self._keep_up, heartbeat)),
            asyncio.create_task(_always(self._clean_up, clean_up)),
        ]

    async def close(self) -> None:
        if self._upkeep:
            for task in self._upkeep:
                task.cancel()
            await asyncio.gather(*self._upkeep, return_exceptions=True)
            with suppress(StoreUnavailable):  # other servers will detect that this one is lost
                async with self._database.transaction() as connection:
                    await connection.execute(delete(SERVERS).where(SERVERS.c.id == self._id))
                    written = await self.accounts.save(connection, alone=False)
                self.accounts.saved(written, alone=False)
        await self._database.close()

    async def add(self, record: Record) -> None:
        response = record.response
        row = await _row(record)
        unfinished = response["status"] in UNFINISHED
        row |= {
            "id": response["id"],
            "previous_id": response["previous_response_id"],
            "created_at": response["created_at"],
            "owner": self._id if unfinished else None,
            "key_owner": record.owner,
            "input": (input := _encode(record.input)),
        }
        row["size"] += len(input)
        async with self._database.transaction(grows_by=record.owner) as connection:
            await connection.execute(insert(RESPONSES).values(row))
            await _index(connection, response["id"], record.input)
            await _index(connection, response["id"], response["output"])

    async def update(self, record: Record) -> bool:
        if self._is_alone:
            return True
        row = await _row(record)
        async with self._database.transaction() as connection:
            return await _change(connection, record, row)

    async def finish(self, record: Record) -> bool:
        row = await _row(record)
        row["owner"] = None
        async with self._database.transaction() as connection:
            if not await _change(connection, record, row):
                return False
            await _index(connection, record.response["id"], record.response["output"])
            return True

    async def response(self, id: str, owner: str) -> wire.ResponseObject | None:
        encoded = await self._column(id, owner, RESPONSES.c.response)
        return None if encoded is None else _decode(encoded)

    async def events(self, id: str, owner: str) -> list[bytes] | None:
        compressed = await self._column(id, owner, RESPONSES.c.events)
        return None if compressed is None else (await asyncio.to_thread(zlib.decompress, compressed)).splitlines()

    async def thread(self, id: str, owner: str) -> Thread | None:
        async with self._database.transaction() as connection:
            chain = await _chain(connection, id, owner)
            if not chain:
                return None
            require_bounded(sum(row.bytes for row in chain), links=len(chain))
            blobs = await _blobs(connection, [row.id for row in chain])
        # One that was deleted meanwhile, and those before it, are no longer stored.
        kept = list(takewhile(lambda row: row.id in blobs, reversed(chain)))[::-1]
        if not kept:
            return None
        links = [Link(_decode(response), _decode(input)) for response, input in (blobs[row.id] for row in kept)]
        require_bounded(items=sum(len(link.input) + len(link.response["output"]) for link in links))
        return Thread(links, kept[0].previous_id)

    async def input_page(
        self, id: str, owner: str, after: str | None, limit: int, *, newest_first: bool
    ) -> Page | None:
        listed: list[RawItem] = []
        count = 0
        async with self._database.transaction() as connection:
            chain = [row.id for row in await _chain(connection, id, owner)]
            if not chain:
                return None
            holders = {row.response_id for row in await _holders(connection, [after] if after else [], owner)}
            for link in reversed(chain) if newest_first else chain:
                # Older versions kept no items of deleted responses in the index.
                if after is not None and holders and link not in holders:
                    continue
                blobs = await _blobs(connection, [link])
                if link not in blobs:  # deleted meanwhile
                    continue
                response, input = blobs[link]
                items = raw_items(input) if link == id else [*raw_items(input), *raw_output(response)]
                if newest_first:
                    items.reverse()
                if after is not None:
                    ids = [id_of(item) for item in items]
                    if after not in ids:  # an output of the last response
                        continue
                    items = items[ids.index(after) + 1 :]
                    after = None
                listed += items
                count = on_a_page(sizes_of(listed), limit)
                if count < len(listed):
                    break
        if after is not None:
            raise LookupError
        return Page([_decode(item) for item in listed[:count]], count < len(listed))

    async def items(self, ids: Iterable[str], owner: str) -> dict[str, StoredItem]:
        ids = list(ids)
        wanted = list(dict.fromkeys(ids))
        raw: dict[str, RawItem] = {}
        async with self._database.transaction() as connection:
            holders = await _holders(connection, wanted, owner, _SHOWN)
            newest = {row.item_id: row.response_id for row in holders}
            sizes = {row.response_id: row.bytes for row in holders}
            used = set(newest.values())
            require_bounded(sum(sizes[holder] for holder in used))  # all of them is read
            for holder, (response, input) in (await _blobs(connection, list(used))).items():
                items = {id_of(item): item for item in (*raw_items(input), *raw_output(response))}
                raw |= {id: item for id, item in items.items() if newest.get(id) == holder}
            raw |= await referenced(connection, [id for id in wanted if id not in raw], owner)
        # An item counts as often as it is referred to.
        require_bounded(sum(memoryview(raw[id]).nbytes for id in ids if id in raw))
        return {id: _decode(item) for id, item in raw.items()}

    async def delete(self, id: str, owner: str) -> bool:
        r = RESPONSES.c
        async with self._database.transaction() as connection:
            shown = select(r.response).where(r.id == id, r.key_owner == owner, _SHOWN)
            response = (await connection.execute(shown)).scalar()
            if response is None:
                return False
            kept = _encode({"id": id, "output": raw_output(response)})
            left = {"hidden": True, "response": kept, "events": b"", "size": len(kept) + func.length(r.input)}
            await connection.execute(update(RESPONSES).where(r.id == id).values(left))
            while await prune(connection, r.hidden):
                pass
            return True

    async def _column(self, id: str, owner: str, column: Any) -> Any:
        query = select(column).where(RESPONSES.c.id == id, RESPONSES.c.key_owner == owner, _SHOWN)
        async with self._database.transaction() as connection:
            return (await connection.execute(query)).scalar()

    async def _keep_up(self) -> None:
        """Writes this server's heartbeat, and fails unfinished responses of lost servers."""
        r = RESPONSES.c
        async with self._database.transaction() as connection:
            time_now = await now(connection)
            seen = await connection.execute(update(SERVERS).where(SERVERS.c.id == self._id).values(seen=time_now))
            if not seen.rowcount:  # this server is new, or counted as lost
                await connection.execute(insert(SERVERS).values(id=self._id, seen=time_now))
            others = SERVERS.c.id != self._id
            await connection.execute(delete(SERVERS).where(SERVERS.c.seen <= time_now - self._lost_after, others))
            await tidy(connection, time_now)
            self._is_alone = not (await connection.execute(select(SERVERS.c.id).where(others).limit(1))).first()
            written = await self.accounts.save(connection, alone=self._is_alone)
            orphans = select(r.id, r.response, r.input, r.events).where(
                r.owner.is_not(None), r.owner.not_in(select(SERVERS.c.id))
            )
            rows = (await connection.execute(orphans)).all()
        self.accounts.saved(written, alone=self._is_alone)
        for row in rows:
            await self.finish(_failed(_decode(row.response), _decode(row.input), zlib.decompress(row.events)))

    async def _clean_up(self) -> None:
        """Deletes responses and conversations that are too old, or exceed their owner's quota, a few in each
        transaction."""
        async with self._database.transaction() as connection:
            time_now = await now(connection)
        for group in self._groups:
            before = max(0.0, time_now - group.retention.days * 86400)
            for delete_some in (prune_old, expire, delete_surplus):
                more = True
                while more:
                    async with self._database.transaction() as connection:
                        more = await delete_some(connection, group, before)
                    await self._database.shrink()


async def _always(step: Callable[[], Awaitable[None]], outage: Outage) -> None:
    while True:
        await asyncio.sleep(BEAT)
        try:
            with suppress(StoreUnavailable), outage.noticed():
                await step()
        except Exception:  # without heartbeats, other servers would fail what this one is generating
            logger.exception("the upkeep of the store failed, and is tried again")


async def _row(record: Record) -> dict[str, Any]:
    """Returns the columns that change while a response is generated."""
    response = _encode(record.response)
    events = await asyncio.to_thread(zlib.compress, b"\n".join(record.events), 1)
    size = len(response) + len(events)
    return {"status": record.response["status"], "response": response, "events": events, "size": size}


async def _change(connection: AsyncConnection, record: Record, row: dict[str, Any]) -> bool:
    """Updates an unfinished response; returns whether it is stored and still unfinished."""
    unfinished = (RESPONSES.c.id == record.response["id"]) & RESPONSES.c.status.in_(UNFINISHED)
    changed = row | {"size": row["size"] + func.length(RESPONSES.c.input)}
    return bool((await connection.execute(update(RESPONSES).where(unfinished).values(changed))).rowcount)


async def _chain(connection: AsyncConnection, id: str, owner: str) -> Sequence[Row[str, str | None, int]]:
    """Returns `id`, `previous_id` and the `bytes` of a response and of those that it continues, the oldest first; empty
    if it isn't stored."""
    r = RESPONSES.c
    owned = r.key_owner == owner
    newest = select(r.id, r.previous_id, literal(0).label("depth")).where(r.id == id, owned, _SHOWN)
    chain = newest.cte(recursive=True)
    earlier = select(r.id, r.previous_id, chain.c.depth + 1).where(r.id == chain.c.previous_id, owned)
    chain = chain.union_all(earlier)
    links = select(r.id, r.previous_id, BYTES).join(chain, chain.c.id == r.id).order_by(chain.c.depth.desc())
    return (await connection.execute(links)).all()


async def _blobs(connection: AsyncConnection, ids: Sequence[str]) -> dict[str, tuple[bytes, bytes]]:
    """Returns responses and their input, as JSON, by id; those that aren't stored any more are missing."""
    query = select(RESPONSES.c.id, RESPONSES.c.response, RESPONSES.c.input)
    return {
        row.id: (row.response, row.input)
        for some in batched(ids)
        for row in (await connection.execute(query.where(RESPONSES.c.id.in_(some)))).all()
    }


async def _holders(
    connection: AsyncConnection, ids: Sequence[str], owner: str, *conditions: ColumnElement[bool]
) -> list[Row[str, str, int]]:
    """Returns `item_id` and `response_id`, with the `bytes` of the response, for all of the owner's responses that have
    these items, the oldest first."""
    query = select(ITEMS.c.item_id, ITEMS.c.response_id, BYTES).join(RESPONSES, RESPONSES.c.id == ITEMS.c.response_id)
    query = query.where(RESPONSES.c.key_owner == owner, *conditions).order_by(RESPONSES.c.created_at)
    return [
        row for some in batched(ids) for row in (await connection.execute(query.where(ITEMS.c.item_id.in_(some)))).all()
    ]


async def _index(connection: AsyncConnection, id: str, items: Iterable[Any]) -> None:
    if rows := [{"item_id": item["id"], "response_id": id} for item in items if item.get("id")]:
        await connection.execute(insert(ITEMS), rows)


def _failed(response: wire.ResponseObject, input: list[StoredItem], events: bytes) -> Record:
    """Returns a response as failed because its server was lost."""
    message = "The server stopped while it was generating this response."
    reason: wire.ResponseError = {"code": "server_error", "message": message}
    failed: wire.ResponseObject = {**response, "status": "failed", "error": reason}
    lines = events.splitlines()
    last: wire.ResponseFailedEvent = {"type": "response.failed", "sequence_number": len(lines), "response": failed}
    return Record(failed, input, [*lines, _encode(last)])
