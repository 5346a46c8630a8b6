"""The accounts of keys in the database, which servers share.

A request takes up to four transactions that write, each of which waits for the disk. So while no other server uses a
file, its accounts are in memory, and saved at heartbeats.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.handlers.store.database import Database, batched, now
from specvino.handlers.store.protocol import Account, OwnAccounts, StoreUnavailable
from specvino.handlers.store.schema import ACCOUNTS, RUNNING, SERVERS

# Seconds for which a full account is kept: longer than a change takes.
_KEPT = 60


class SqlAccounts:
    """The accounts of keys (`Accounts`), as a server with this ID changes them. `clock` returns Unix seconds."""

    def __init__(
        self, database: Database, server: str, clock: Callable[[AsyncConnection], Awaitable[float]] = now
    ) -> None:
        self._database = database
        self._server = server
        self._clock = clock
        self._own = OwnAccounts()
        self._is_alone = False
        self._unsaved: set[str] = set()

    async def change(self, owner: str, act: Callable[[Account], None]) -> None:
        if self._is_alone and owner not in self._own.accounts:
            await self._load(owner)
        if self._is_alone:
            await self._own.change(owner, act)
            self._unsaved.add(owner)
            return
        if not await self._changed(owner, act):
            with suppress(StoreUnavailable):  # another server may add it at the same time
                async with self._database.transaction() as connection:
                    full = await self._clock(connection)
                    await connection.execute(insert(ACCOUNTS).values(key_owner=owner, requests=full, tokens=full))
            if not await self._changed(owner, act):
                raise StoreUnavailable("an account was lost")

    async def save(self, connection: AsyncConnection, *, alone: bool) -> dict[str, Account]:
        """Writes what has changed in memory, in a transaction that has written already, so that nobody else can, and
        returns it for `saved`. If this server isn't `alone`, what changes from now on waits for the transaction."""
        self._is_alone &= alone
        written = {owner: self._own.accounts[owner] for owner in self._unsaved}
        a, r = ACCOUNTS.c, RUNNING.c
        for owners in batched(list(written)):
            # Another server may have changed one since its first heartbeat.
            query = select(a.key_owner, a.requests, a.tokens).where(a.key_owner.in_(owners))
            stored = {row.key_owner: row for row in await connection.execute(query)}
            left = [
                {
                    "key_owner": owner,
                    "requests": max(written[owner].requests, stored[owner].requests if owner in stored else 0.0),
                    "tokens": max(written[owner].tokens, stored[owner].tokens if owner in stored else 0.0),
                }
                for owner in owners
            ]
            await connection.execute(delete(ACCOUNTS).where(a.key_owner.in_(owners)))
            await connection.execute(insert(ACCOUNTS), left)
            await connection.execute(delete(RUNNING).where(r.key_owner.in_(owners), r.server_id == self._server))
            mine = [
                {"key_owner": owner, "server_id": self._server, "sequences": written[owner].running}
                for owner in owners
                if written[owner].running
            ]
            if mine:
                await connection.execute(insert(RUNNING), mine)
        return written

    def saved(self, written: Mapping[str, Account], *, alone: bool) -> None:
        """Forgets what `save` has written, after its transaction was committed, and not what has changed since. From
        now on accounts are in memory if this server is `alone`."""
        if self._is_alone:
            self._unsaved -= {owner for owner, account in written.items() if self._own.accounts.get(owner) is account}
        else:
            self._own.accounts.clear()
            self._unsaved.clear()
        self._is_alone = alone and self._database.is_file

    async def _load(self, owner: str) -> None:
        a = ACCOUNTS.c
        query = select(a.requests, a.tokens).where(a.key_owner == owner)
        async with self._database.transaction() as connection:
            row = (await connection.execute(query)).one_or_none()
        if self._is_alone:
            self._own.accounts[owner] = Account(requests=row.requests, tokens=row.tokens) if row else Account()

    async def _changed(self, owner: str, act: Callable[[Account], None]) -> bool:
        """Changes an account; returns False if there is none."""
        a, r = ACCOUNTS.c, RUNNING.c
        of_owner, own = a.key_owner == owner, (r.key_owner == owner) & (r.server_id == self._server)
        others = (r.key_owner == owner) & (r.server_id != self._server) & r.server_id.in_(select(SERVERS.c.id))
        async with self._database.transaction() as connection:
            # Writing first: it takes the lock of the row in PostgreSQL, and that of the file in SQLite.
            await connection.execute(update(ACCOUNTS).where(of_owner).values(key_owner=owner))
            row = (await connection.execute(select(a.requests, a.tokens).where(of_owner))).one_or_none()
            if row is None:
                return False
            elsewhere = (await connection.execute(select(func.sum(r.sequences)).where(others))).scalar()
            # If the heartbeat with which this server ceased to be alone has failed, memory may have more.
            unsaved = self._own.accounts[owner] if owner in self._unsaved else Account()
            requests, tokens = max(row.requests, unsaved.requests), max(row.tokens, unsaved.tokens)
            account = Account(await self._clock(connection), requests, tokens, elsewhere=elsewhere or 0)
            act(account)
            left = {"requests": account.requests, "tokens": account.tokens}
            await connection.execute(update(ACCOUNTS).where(of_owner).values(left))
            await connection.execute(delete(RUNNING).where(own))
            if account.running:
                mine = {"key_owner": owner, "server_id": self._server, "sequences": account.running}
                await connection.execute(insert(RUNNING).values(mine))
        self._unsaved.discard(owner)
        return True


async def tidy(connection: AsyncConnection, time_now: float) -> None:
    """Deletes what lost servers were generating, and accounts that have been full for a while, which are the same as
    none."""
    await connection.execute(delete(RUNNING).where(RUNNING.c.server_id.not_in(select(SERVERS.c.id))))
    full = (ACCOUNTS.c.requests < time_now - _KEPT) & (ACCOUNTS.c.tokens < time_now - _KEPT)
    await connection.execute(delete(ACCOUNTS).where(full))
