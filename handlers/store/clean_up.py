"""Deletes the responses of a database that are too old, or beyond their owner's quota."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, delete, exists, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.handlers.store.database import MOST_AT_ONCE, at_once, batched
from specvino.handlers.store.quota import Group, Quota
from specvino.handlers.store.schema import ITEMS, RESPONSES

# Of a response and its input.
BYTES = (func.length(RESPONSES.c.response) + func.length(RESPONSES.c.input)).label("bytes")

# Whether another response continues it: the conversation lives as long as its newest response.
_NEXT = RESPONSES.alias("next")
_CONTINUED = exists().where(_NEXT.c.previous_id == RESPONSES.c.id)


async def prune_old(connection: AsyncConnection, group: Group, before: float) -> bool:
    """Deletes some of the responses of these owners that were created before a Unix time, as `prune`."""
    return await prune(connection, group.has(RESPONSES) & (RESPONSES.c.created_at < before))


async def delete_surplus(connection: AsyncConnection, group: Group, before: float) -> bool:
    """Deletes some of the responses beyond the quota of one owner, and returns whether there were any."""
    if quota := group.retention.quota:
        for owner in await group.exceeding(connection, RESPONSES):
            if ids := at_once(await _surplus(connection, owner, quota)):
                await _delete(connection, ids)
                return True
    return False


async def prune(connection: AsyncConnection, unwanted: ColumnElement[bool]) -> bool:
    """Deletes some of the unwanted responses that no other one continues, and returns whether there were any: then,
    there may be some that only these continued."""
    ends = select(RESPONSES.c.id, BYTES).where(unwanted, ~_CONTINUED).limit(MOST_AT_ONCE)
    sizes = {row.id: row.bytes for row in await connection.execute(ends)}
    await _delete(connection, at_once(sizes))
    return bool(sizes)


async def _surplus(connection: AsyncConnection, owner: str, quota: Quota) -> dict[str, int]:
    """Returns the sizes of an owner's responses beyond the quota, by id: the conversations that were continued least
    recently, as a whole. Of a single conversation that is larger, the oldest responses.
    """
    r = RESPONSES.c
    newest_first = select(r.id, r.previous_id, r.size).where(r.key_owner == owner).order_by(r.created_at.desc(), r.id)
    rows = {row.id: row for row in await connection.execute(newest_first)}
    kept: set[str] = set()
    size = 0
    for id in rows:
        conversation: dict[str, int] = {}
        earlier: str | None = id
        while earlier and earlier in rows and earlier not in kept:
            conversation[earlier] = rows[earlier].size
            earlier = rows[earlier].previous_id
        if kept and not quota.admits(len(kept) + len(conversation), size + sum(conversation.values())):
            break
        for one, more in conversation.items():
            if kept and not quota.admits(len(kept) + 1, size + more):
                break
            kept.add(one)
            size += more
    return {id: row.size for id, row in rows.items() if id not in kept}


async def _delete(connection: AsyncConnection, ids: Sequence[str]) -> None:
    for some in batched(ids):
        await connection.execute(delete(ITEMS).where(ITEMS.c.response_id.in_(some)))
        await connection.execute(delete(RESPONSES).where(RESPONSES.c.id.in_(some)))
