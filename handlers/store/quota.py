"""What one owner may store, so that nobody's data make room for those of another key."""

from dataclasses import dataclass

from sqlalchemy import Table, func, select
from sqlalchemy.ext.asyncio import AsyncConnection


@dataclass(frozen=True, slots=True)
class Quota:
    """How many responses an owner may store, None for any number, and of how many bytes; and as many conversations, of
    as many bytes."""

    count: int | None
    bytes: int

    def admits(self, count: int, size: int) -> bool:
        """Returns whether so many responses or conversations of `size` bytes together may be stored."""
        return (self.count is None or count <= self.count) and size <= self.bytes

    async def exceeding(self, connection: AsyncConnection, table: Table) -> list[str]:
        """Returns the owners that have more in a table."""
        totals = select(table.c.key_owner, func.count(), func.sum(table.c.size)).group_by(table.c.key_owner)
        rows = (await connection.execute(totals)).all()
        return [owner for owner, count, size in rows if not self.admits(count, size)]
