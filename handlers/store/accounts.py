"""The accounts of keys in the database, which servers share."""

from collections.abc import Awaitable, Callable

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.handlers.store.database import Database, now
from specvino.handlers.store.protocol import Account
from specvino.handlers.store.schema import ACCOUNTS, RUNNING, SERVERS


class SqlAccounts:
    """The accounts of keys (`Accounts`), as a server with this ID changes them. `clock`
    returns Unix seconds."""

    def __init__(
        self, database: Database, server: str, clock: Callable[[AsyncConnection], Awaitable[float]] = now
    ) -> None:
        self._database = database
        self._server = server
        self._clock = clock

    async def change(self, owner: str, act: Callable[[Account], None]) -> None:
        a, r = ACCOUNTS.c, RUNNING.c
        async with self._database.transaction() as connection:
            # Writing first: it takes the lock of the row in PostgreSQL, and that of the file in SQLite.
            touched = await connection.execute(update(ACCOUNTS).where(a.key_owner == owner).values(key_owner=owner))
            if not touched.rowcount:
                await connection.execute(insert(ACCOUNTS).values(key_owner=owner, requests=0.0, tokens=0.0))
            row = (await connection.execute(select(a.requests, a.tokens).where(a.key_owner == owner))).one()
            others = (r.key_owner == owner) & (r.server_id != self._server) & r.server_id.in_(select(SERVERS.c.id))
            elsewhere = (await connection.execute(select(func.sum(r.sequences)).where(others))).scalar()
            account = Account(await self._clock(connection), row.requests, row.tokens, elsewhere=elsewhere or 0)
            act(account)
            left = {"requests": account.requests, "tokens": account.tokens}
            await connection.execute(update(ACCOUNTS).where(a.key_owner == owner).values(left))
            own = (r.key_owner == owner) & (r.server_id == self._server)
            await connection.execute(delete(RUNNING).where(own))
            if account.running:
                mine = {"key_owner": owner, "server_id": self._server, "sequences": account.running}
                await connection.execute(insert(RUNNING).values(mine))


async def tidy(connection: AsyncConnection, time_now: float) -> None:
    """Deletes what lost servers were generating, and accounts that are full, which are the same as none."""
    await connection.execute(delete(RUNNING).where(RUNNING.c.server_id.not_in(select(SERVERS.c.id))))
    full = (ACCOUNTS.c.requests <= time_now) & (ACCOUNTS.c.tokens <= time_now)
    await connection.execute(delete(ACCOUNTS).where(full))
