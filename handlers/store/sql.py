"""Responses in a database, through SQLAlchemy."""

import asyncio
import logging
import uuid
import zlib
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, delete, exists, func, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.generated import wire
from specvino.handlers.store.conversations import SqlConversations, expire, referenced
from specvino.handlers.store.database import Database, now
from specvino.handlers.store.protocol import UNFINISHED, Link, Record, StoredItem, StoreUnavailable, Thread
from specvino.handlers.store.schema import ITEMS, RESPONSES, SERVERS

DAYS = 30

# Seconds between two heartbeats of a server, and seconds without one until it counts as lost.
BEAT = 5.0
LOST_AFTER = 20.0

_SHOWN = ~RESPONSES.c.hidden

# Whether another response continues it: the conversation lives as long as its newest response.
_NEXT = RESPONSES.alias("next")
_CONTINUED = exists().where(_NEXT.c.previous_id == RESPONSES.c.id)

logger = logging.getLogger("specvino.store")

_encode = msgspec.json.encode
_decode = msgspec.json.decode


class SqlStore:
    """A ResponseStore at a SQLAlchemy URL that keeps responses and conversations for `days` and, unless it is None, at
    most `most` of each: a chain of responses as long as its newest one, a conversation from its last change on. A
    server without a heartbeat for `lost_after` seconds counts as lost.

    Raises ValueError for an invalid URL.
    """

    def __init__(
        self, url: str, *, days: float = DAYS, most: int | None = None, lost_after: float = LOST_AFTER
    ) -> None:
        self._database = Database(url)
        self.conversations = SqlConversations(self._database)
        self._seconds = days * 86400
        self._most = most
        self._lost_after = lost_after
        self._id = uuid.uuid4().hex
        self._is_alone = False
        self._upkeep: asyncio.Task[None] | None = None

    keeps = True

    @property
    def location(self) -> str:
        return self._database.location

    async def open(self) -> None:
        await self._keep_up()
        self._upkeep = asyncio.create_task(self._keep_up_always())

    async def close(self) -> None:
        if self._upkeep:
            self._upkeep.cancel()
            await asyncio.gather(self._upkeep, return_exceptions=True)
            with suppress(StoreUnavailable):  # other servers will detect that this one is lost
                async with self._database.transaction() as connection:
                    await connection.execute(delete(SERVERS).where(SERVERS.c.id == self._id))
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
            "input": _encode(record.input),
        }
        async with self._database.transaction() as connection:
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
        r = RESPONSES.c
        owned = r.key_owner == owner
        newest = select(r.id, r.previous_id, literal(0).label("depth")).where(r.id == id, owned, _SHOWN)
        chain = newest.cte(recursive=True)
        earlier = select(r.id, r.previous_id, chain.c.depth + 1).where(r.id == chain.c.previous_id, owned)
        chain = chain.union_all(earlier)
        links = select(r.previous_id, r.response, r.input).join(chain, chain.c.id == r.id)
        async with self._database.transaction() as connection:
            rows = (await connection.execute(links.order_by(chain.c.depth.desc()))).all()
        if not rows:
            return None
        return Thread([Link(_decode(row.response), _decode(row.input)) for row in rows], rows[0].previous_id)

    async def items(self, ids: Iterable[str], owner: str) -> dict[str, StoredItem]:
        wanted = set(ids)
        if not wanted:
            return {}
        r = RESPONSES.c
        holders = select(ITEMS.c.response_id).where(ITEMS.c.item_id.in_(wanted))
        query = select(r.response, r.input).where(r.id.in_(holders), r.key_owner == owner)
        async with self._database.transaction() as connection:
            rows = (await connection.execute(query)).all()
            items = await referenced(connection, wanted, owner)
        items += (item for row in rows for item in (*_decode(row.input), *_decode(row.response)["output"]))
        return {item["id"]: item for item in items if item["id"] in wanted}

    async def delete(self, id: str, owner: str) -> bool:
        r = RESPONSES.c
        async with self._database.transaction() as connection:
            shown = select(r.response).where(r.id == id, r.key_owner == owner, _SHOWN)
            response = (await connection.execute(shown)).scalar()
            if response is None:
                return False
            kept = _encode({"id": id, "output": _decode(response)["output"]})
            hidden = update(RESPONSES).where(r.id == id).values(hidden=True, response=kept, events=b"")
            await connection.execute(hidden)
            await connection.execute(delete(ITEMS).where(ITEMS.c.response_id == id))
            await _prune(connection, r.hidden)
            return True

    async def _column(self, id: str, owner: str, column: Any) -> Any:
        query = select(column).where(RESPONSES.c.id == id, RESPONSES.c.key_owner == owner, _SHOWN)
        async with self._database.transaction() as connection:
            return (await connection.execute(query)).scalar()

    async def _keep_up_always(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            try:
                await self._keep_up()
            except StoreUnavailable as error:
                logger.warning("the store of responses is unavailable: %s", error)

    async def _keep_up(self) -> None:
        """Writes this server's heartbeat, fails unfinished responses of lost servers, and deletes responses that are
        too old or too many, and conversations likewise."""
        r = RESPONSES.c
        async with self._database.transaction() as connection:
            time_now = await now(connection)
            seen = await connection.execute(update(SERVERS).where(SERVERS.c.id == self._id).values(seen=time_now))
            if not seen.rowcount:  # this server is new, or counted as lost
                await connection.execute(insert(SERVERS).values(id=self._id, seen=time_now))
            others = SERVERS.c.id != self._id
            await connection.execute(delete(SERVERS).where(SERVERS.c.seen <= time_now - self._lost_after, others))
            self._is_alone = not (await connection.execute(select(SERVERS.c.id).where(others).limit(1))).first()
            orphans = select(r.id, r.response, r.input, r.events).where(
                r.owner.is_not(None), r.owner.not_in(select(SERVERS.c.id))
            )
            rows = (await connection.execute(orphans)).all()
            await _prune(connection, r.created_at < time_now - self._seconds)
            if self._most is not None:
                await _delete(connection, await _surplus(connection, self._most))
            await expire(connection, time_now - self._seconds, self._most)
        for row in rows:
            await self.finish(_failed(_decode(row.response), _decode(row.input), zlib.decompress(row.events)))


async def _row(record: Record) -> dict[str, Any]:
    """Returns the columns that change while a response is generated."""
    return {
        "status": record.response["status"],
        "response": _encode(record.response),
        "events": await asyncio.to_thread(zlib.compress, b"\n".join(record.events), 1),
    }


async def _change(connection: AsyncConnection, record: Record, row: dict[str, Any]) -> bool:
    """Updates an unfinished response; returns whether it is stored and still unfinished."""
    unfinished = (RESPONSES.c.id == record.response["id"]) & RESPONSES.c.status.in_(UNFINISHED)
    return bool((await connection.execute(update(RESPONSES).where(unfinished).values(row))).rowcount)


async def _index(connection: AsyncConnection, id: str, items: Iterable[Any]) -> None:
    if rows := [{"item_id": item["id"], "response_id": id} for item in items if item.get("id")]:
        await connection.execute(insert(ITEMS), rows)


async def _prune(connection: AsyncConnection, unwanted: ColumnElement[bool]) -> None:
    """Deletes the unwanted responses that no other one continues, then those that only these continued, and so on."""
    ends = select(RESPONSES.c.id).where(unwanted, ~_CONTINUED)
    while ids := list((await connection.execute(ends)).scalars()):
        await _delete(connection, ids)


async def _surplus(connection: AsyncConnection, most: int) -> list[str]:
    """Returns the ids of the responses beyond `most`: the conversations that were continued least recently, as a whole.
    Of a single conversation that is larger, the oldest responses.
    """
    r = RESPONSES.c
    if ((await connection.execute(select(func.count()).select_from(RESPONSES))).scalar() or 0) <= most:
        return []
    newest_first = select(r.id, r.previous_id).order_by(r.created_at.desc(), r.id)
    previous: dict[str, str | None] = {row.id: row.previous_id for row in await connection.execute(newest_first)}
    kept: set[str] = set()
    for id in previous:
        conversation: list[str] = []
        earlier: str | None = id
        while earlier and earlier in previous and earlier not in kept:
            conversation.append(earlier)
            earlier = previous[earlier]
        if kept and len(kept) + len(conversation) > most:
            break
        kept.update(conversation[:most])
    return [id for id in previous if id not in kept]


async def _delete(connection: AsyncConnection, ids: list[str]) -> None:
    for start in range(0, len(ids), 500):  # databases limit the parameters of a statement
        batch = ids[start : start + 500]
        await connection.execute(delete(ITEMS).where(ITEMS.c.response_id.in_(batch)))
        await connection.execute(delete(RESPONSES).where(RESPONSES.c.id.in_(batch)))


def _failed(response: wire.ResponseObject, input: list[StoredItem], events: bytes) -> Record:
    """Returns a response as failed because its server was lost."""
    message = "The server stopped while it was generating this response."
    reason: wire.ResponseError = {"code": "server_error", "message": message}
    failed: wire.ResponseObject = {**response, "status": "failed", "error": reason}
    lines = events.splitlines()
    last: wire.ResponseFailedEvent = {"type": "response.failed", "sequence_number": len(lines), "response": failed}
    return Record(failed, input, [*lines, _encode(last)])
