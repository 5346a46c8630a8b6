"""Conversations in a database, through SQLAlchemy."""

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.handlers.store.database import MOST_AT_ONCE, Database, at_once, batched, now
from specvino.handlers.store.protocol import Conversation, Page, StoredItem
from specvino.handlers.store.quota import Group
from specvino.handlers.store.raw_items import on_a_page, require_bounded
from specvino.handlers.store.schema import CONVERSATION_ITEMS, CONVERSATIONS

_C = CONVERSATIONS.c
_I = CONVERSATION_ITEMS.c

_encode = msgspec.json.encode
_decode = msgspec.json.decode


class SqlConversations:
    """A ConversationStore in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, items: Sequence[StoredItem], metadata: Mapping[str, str], owner: str) -> Conversation:
        conversation = Conversation(f"conv_{uuid.uuid4().hex}", int(time.time()), metadata)
        row = {
            "id": conversation.id,
            "key_owner": owner,
            "created_at": conversation.created_at,
            "added": 0,
            "metadata": _encode(metadata),
        }
        async with self._database.transaction(grows_by=owner) as connection:
            await connection.execute(insert(CONVERSATIONS).values(row | {"used_at": await now(connection)}))
            await _add(connection, conversation.id, owner, items)
        return conversation

    async def get(self, id: str, owner: str) -> Conversation | None:
        async with self._database.transaction() as connection:
            return await _get(connection, id, owner)

    async def describe(self, id: str, metadata: Mapping[str, str], owner: str) -> Conversation | None:
        change = update(CONVERSATIONS).where(_C.id == id, _C.key_owner == owner)
        async with self._database.transaction() as connection:
            await connection.execute(change.values(metadata=_encode(metadata), used_at=await now(connection)))
            return await _get(connection, id, owner)

    async def delete(self, id: str, owner: str) -> bool:
        async with self._database.transaction() as connection:
            if await _get(connection, id, owner) is None:
                return False
            await delete_conversations(connection, [id])
            return True

    async def add(self, id: str, items: Sequence[StoredItem], owner: str) -> list[StoredItem] | None:
        async with self._database.transaction(grows_by=owner) as connection:
            return await _add(connection, id, owner, items)

    async def items(self, id: str, owner: str) -> list[StoredItem] | None:
        async with self._database.transaction() as connection:
            size = (await connection.execute(select(_C.size).where(_C.id == id, _C.key_owner == owner))).scalar()
            if size is None:
                return None
            count = select(func.count()).where(_I.conversation_id == id)
            require_bounded(size, items=(await connection.execute(count)).scalar_one())
            query = select(_I.item).where(_I.conversation_id == id).order_by(_I.position)
            return [_decode(item) for item in (await connection.execute(query)).scalars()]

    async def page(self, id: str, owner: str, after: str | None, limit: int, *, newest_first: bool) -> Page | None:
        position = _I.position
        query = select(_I.item).where(_I.conversation_id == id)
        async with self._database.transaction() as connection:
            if await _get(connection, id, owner) is None:
                return None
            if after is not None:
                position_of_after = select(position).where(_I.conversation_id == id, _I.item_id == after)
                last = (await connection.execute(position_of_after)).scalar()
                if last is None:
                    raise LookupError
                query = query.where(position < last if newest_first else position > last)
            query = query.order_by(position.desc() if newest_first else position)
            lengths = query.with_only_columns(func.length(_I.item)).limit(limit + 1)
            sizes = (await connection.execute(lengths)).scalars().all()
            count = on_a_page(sizes, limit)
            items = [_decode(item) for item in (await connection.execute(query.limit(count))).scalars()]
        return Page(items, count < len(sizes))

    async def item(self, id: str, item_id: str, owner: str) -> StoredItem | None:
        query = select(_I.item).join(CONVERSATIONS, _C.id == _I.conversation_id)
        one = query.where(_C.id == id, _C.key_owner == owner, _I.item_id == item_id)
        async with self._database.transaction() as connection:
            encoded = (await connection.execute(one)).scalar()
        return None if encoded is None else _decode(encoded)

    async def remove(self, id: str, item_id: str, owner: str) -> bool:
        used = update(CONVERSATIONS).where(_C.id == id, _C.key_owner == owner)
        one = (_I.conversation_id == id) & (_I.item_id == item_id)
        async with self._database.transaction() as connection:
            # The update comes first, as in `_add`.
            if not (await connection.execute(used.values(used_at=await now(connection)))).rowcount:
                return False
            sizes = (await connection.execute(select(func.length(_I.item)).where(one))).scalars().all()
            await connection.execute(delete(CONVERSATION_ITEMS).where(one))
            await connection.execute(update(CONVERSATIONS).where(_C.id == id).values(size=_C.size - sum(sizes)))
            return bool(sizes)


async def referenced(connection: AsyncConnection, ids: Sequence[str], owner: str) -> dict[str, bytes]:
    """Returns the items with these ids, of any conversation of the owner, as JSON. Raises TooLarge."""
    owned = select(_I.item_id, _I.conversation_id, _I.position, func.length(_I.item).label("bytes"))
    owned = owned.join(CONVERSATIONS, _C.id == _I.conversation_id).where(_C.key_owner == owner).order_by(_C.used_at)
    newest = {
        row.item_id: row
        for some in batched(ids)
        for row in (await connection.execute(owned.where(_I.item_id.in_(some)))).all()
    }
    require_bounded(sum(row.bytes for row in newest.values()))
    items = select(_I.item_id, _I.item).where(_I.conversation_id.in_({row.conversation_id for row in newest.values()}))
    return {
        row.item_id: row.item
        for some in batched(list(newest))
        for row in (await connection.execute(items.where(_I.item_id.in_(some)))).all()
    }


async def expire(connection: AsyncConnection, group: Group, before: float) -> bool:
    """Deletes some conversations of these owners: those that were last changed before a Unix time, and of each owner
    those beyond the quota that were changed least recently. Returns whether there were any."""
    query = select(_C.id, _C.used_at, _C.size).where(group.has(CONVERSATIONS))
    rows = list((await connection.execute(query.where(_C.used_at < before).limit(MOST_AT_ONCE))).all())
    if quota := group.retention.quota:
        for owner in await group.exceeding(connection, CONVERSATIONS):
            owned = query.where(_C.used_at >= before, _C.key_owner == owner).order_by(_C.used_at.desc(), _C.id)
            size = 0
            for count, row in enumerate(await connection.execute(owned), 1):
                size += row.size
                if not quota.admits(count, size):
                    rows.append(row)
    if rows:  # one that is changed meanwhile stays
        latest = max(row.used_at for row in rows)
        ids = at_once({row.id: row.size for row in rows})
        await delete_conversations(connection, ids, _C.used_at <= latest)
    return bool(rows)


async def delete_conversations(
    connection: AsyncConnection, ids: Sequence[str], condition: ColumnElement[bool] | None = None
) -> None:
    """Deletes the conversations that meet the condition, with their items."""
    for some in batched(ids):
        gone = delete(CONVERSATIONS).where(_C.id.in_(some))
        await connection.execute(gone if condition is None else gone.where(condition))
        left = select(_C.id).where(_C.id.in_(some))
        items = delete(CONVERSATION_ITEMS).where(_I.conversation_id.in_(some), _I.conversation_id.not_in(left))
        await connection.execute(items)


async def _get(connection: AsyncConnection, id: str, owner: str) -> Conversation | None:
    query = select(_C.id, _C.created_at, _C.metadata).where(_C.id == id, _C.key_owner == owner)
    row = (await connection.execute(query)).first()
    return None if row is None else Conversation(row.id, row.created_at, _decode(row.metadata))


async def _add(
    connection: AsyncConnection, id: str, owner: str, items: Sequence[StoredItem]
) -> list[StoredItem] | None:
    """Adds items at the end of a conversation; an item whose id it already has gets another one."""
    # The update comes first: until the end of the transaction, others who add to this conversation wait.
    counted = update(CONVERSATIONS).where(_C.id == id, _C.key_owner == owner)
    changed = await connection.execute(counted.values(added=_C.added + len(items), used_at=await now(connection)))
    if not changed.rowcount:
        return None
    end = (await connection.execute(select(_C.added).where(_C.id == id))).scalar_one()
    wanted = {item["id"] for item in items}
    taken = select(_I.item_id).where(_I.conversation_id == id, _I.item_id.in_(wanted))
    known = set((await connection.execute(taken)).scalars())
    rows: list[dict[str, Any]] = []
    added: list[StoredItem] = []
    for position, item in enumerate(items, end - len(items)):
        if item["id"] in known:
            item = {**item, "id": f"{item['id'].partition('_')[0][:16]}_{uuid.uuid4().hex}"}
        known.add(item["id"])
        added.append(item)
        rows.append({"conversation_id": id, "position": position, "item_id": item["id"], "item": _encode(item)})
    if rows:
        await connection.execute(insert(CONVERSATION_ITEMS), rows)
        size = sum(len(row["item"]) for row in rows)
        await connection.execute(update(CONVERSATIONS).where(_C.id == id).values(size=_C.size + size))
    return added
