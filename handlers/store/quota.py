"""Storage quota of one owner, so that nobody's data make room for those of another key."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Table, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.handlers.store.schema import CONVERSATIONS, RESPONSES


@dataclass(frozen=True, slots=True)
class Quota:
    """How many responses an owner may store, None for any number, and of how many bytes; and as many conversations, of
    as many bytes."""

    count: int | None
    bytes: int

    def admits(self, count: int, size: int) -> bool:
        """Returns whether so many responses or conversations of `size` bytes together may be stored."""
        return (self.count is None or count <= self.count) and size <= self.bytes


@dataclass(frozen=True, slots=True)
class Retention:
    """For how many `days` what an owner stores is kept, and up to which `quota`, None for no limit."""

    days: float = 30
    quota: Quota | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Owners with the same retention: these, or all but these."""

    retention: Retention
    owners: Collection[str]
    others: bool = False

    def has(self, table: Table) -> ColumnElement[bool]:
        """Returns the condition that a row of a table belongs to one of them."""
        owner = table.c.key_owner
        return owner.not_in(self.owners) if self.others else owner.in_(self.owners)

    async def exceeding(self, connection: AsyncConnection, table: Table) -> list[str]:
        """Returns the owners of the group that have more in a table than the quota admits."""
        quota = self.retention.quota
        if quota is None:
            return []
        totals = select(table.c.key_owner, func.count(), func.sum(table.c.size)).where(self.has(table))
        rows = (await connection.execute(totals.group_by(table.c.key_owner))).all()
        return [owner for owner, count, size in rows if not quota.admits(count, size)]


def groups(default: Retention, own: Mapping[str, Retention]) -> list[Group]:
    """Returns all owners by their retention: those that have one of their own, and all others."""
    by_retention: dict[Retention, list[str]] = {}
    for owner, retention in own.items():
        by_retention.setdefault(retention, []).append(owner)
    return [Group(default, list(own), others=True), *(Group(*group) for group in by_retention.items())]


async def exceeds_its_share(connection: AsyncConnection, owner: str) -> bool:
    """Returns whether an owner has stored more bytes than each would have if all had the same, and so had one more."""
    sizes: dict[str, int] = {}
    for table in (RESPONSES, CONVERSATIONS):
        totals = select(table.c.key_owner, func.sum(table.c.size)).group_by(table.c.key_owner)
        for other, size in (await connection.execute(totals)).all():
            sizes[other] = sizes.get(other, 0) + int(size)
    return sizes.get(owner, 0) * (len(sizes | {owner: 0}) + 1) > sum(sizes.values())
