"""A database with the store's tables: its transactions, its clock, and its failures."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import DateTime, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.handlers.store.connect import connect, shown
from specvino.handlers.store.protocol import StoreUnavailable, StoreUnusable
from specvino.handlers.store.quota import exceeds_its_share
from specvino.handlers.store.schema import bring_up_to_date

_UP_TO_DATE = "specvino_up_to_date"

# A file gets nothing new on a disk with less free bytes: deleting takes room, too. With less than twice as many, owners
# that have stored more than their share get nothing new.
_RESERVE = 64 * 2**20

# Rows that are deleted in one transaction, and parameters of a statement.
MOST_AT_ONCE = 500

# Errors of files that another try won't change, and SQLite's codes for them (https://www.sqlite.org/rescode.html).
_LASTING = (PermissionError, FileNotFoundError, FileExistsError, NotADirectoryError, IsADirectoryError)
_LASTING_CODES = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB)

# SQLite's number of a mode in which a file can shrink.
_INCREMENTAL = 2


class Database:
    """The database at a SQLAlchemy URL, with tables of the current version. Raises ValueError for an invalid URL."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        url_of_file = self._engine.url.get_backend_name() == "sqlite" and self._engine.url.database
        self._folder = Path(url_of_file).parent if url_of_file and url_of_file != ":memory:" else None
        self._migrating = asyncio.Lock()  # Alembic's context is global to the process

    @property
    def location(self) -> str:
        """Its location, for the operator."""
        return shown(self._engine.url)

    @property
    def is_file(self) -> bool:
        """Whether it is a SQLite file, whose clock is this machine's."""
        return self._folder is not None

    async def close(self) -> None:
        await self._engine.dispose()

    async def shrink(self) -> None:
        """Returns the room of deleted data to the disk, if it is a file that can shrink. One of an older version can
        after `PRAGMA auto_vacuum = INCREMENTAL; VACUUM`. If the file is locked, that waits until the next time.
        """
        if not self._folder:
            return
        with suppress(StoreUnavailable):
            async with self.transaction() as connection:
                driver: Any = (await connection.get_raw_connection()).driver_connection
                ((mode,),) = await driver.execute_fetchall("PRAGMA auto_vacuum")
                ((free,),) = await driver.execute_fetchall("PRAGMA freelist_count")
                if free and mode == _INCREMENTAL:
                    # As a script: Python 3.11's `execute` ends at the first of the rows, which have no columns.
                    await driver.executescript("PRAGMA incremental_vacuum")
                    await driver.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    @asynccontextmanager
    async def transaction(self, *, grows_by: str | None = None) -> AsyncIterator[AsyncConnection]:
        """Yields a connection whose changes are committed together at the end. Raises StoreUnavailable, also if the
        file would grow by data of this owner on a disk that is nearly full.
        """
        with _errors():
            async with self._engine.connect() as connection:
                if _UP_TO_DATE not in connection.info:  # per connection: it may be the first one to a replaced database
                    async with self._migrating:
                        await connection.run_sync(bring_up_to_date)
                    await connection.rollback()  # the transaction that was started by reading the version
                    connection.info[_UP_TO_DATE] = True
                async with connection.begin():
                    if grows_by is not None:
                        await self._require_room(connection, grows_by)
                    yield connection

    async def _require_room(self, connection: AsyncConnection, owner: str) -> None:
        """Raises StoreUnavailable if the disk is nearly full, and earlier for an owner with more than its share, so
        that the others can store something."""
        if not self._folder:
            return
        free = shutil.disk_usage(self._folder).free
        if free < _RESERVE:
            raise StoreUnavailable(f"the disk of {self.location} has less than {_RESERVE >> 20} MiB left")
        if owner and free < 2 * _RESERVE and await exceeds_its_share(connection, owner):
            left = f"the disk of {self.location} has less than {2 * _RESERVE >> 20} MiB left"
            raise StoreUnavailable(f"{left}, which are for keys that have stored less")


def batched(values: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yields parts of a list: databases limit the parameters of a statement."""
    for start in range(0, len(values), MOST_AT_ONCE):
        yield values[start : start + MOST_AT_ONCE]


def at_once(sizes: Mapping[str, int]) -> list[str]:
    """Returns the first ids of these, with sizes in bytes, that may be deleted in one transaction: SQLite writes what
    is deleted to its log, for which a nearly full disk must have room, and others wait meanwhile."""
    ids: list[str] = []
    left = _RESERVE // 4
    for id, size in sizes.items():
        left -= size
        if ids and (left < 0 or len(ids) == MOST_AT_ONCE):
            break
        ids.append(id)
    return ids


async def now(connection: AsyncConnection) -> float:
    """Returns the database's Unix time, since the clocks of servers may differ."""
    result = await connection.execute(select(func.current_timestamp(type_=DateTime(timezone=True))))
    time: datetime = result.scalar_one()
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        cause = getattr(error, "orig", None) or error
        lasts = isinstance(cause, _LASTING) or (getattr(cause, "sqlite_errorcode", 0) & 0xFF) in _LASTING_CODES
        kind = StoreUnusable if lasts else StoreUnavailable
        raise kind(str(cause).splitlines()[0] if str(cause) else type(cause).__name__) from error
