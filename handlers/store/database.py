"""A database with the store's tables: its transactions, its clock, and its failures."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime

from sqlalchemy import DateTime, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from specvino.handlers.store.connect import connect, shown
from specvino.handlers.store.protocol import StoreUnavailable
from specvino.handlers.store.schema import bring_up_to_date

_UP_TO_DATE = "specvino_up_to_date"


class Database:
    """The database at a SQLAlchemy URL, with tables of the current version. Raises ValueError for an invalid URL."""

    def __init__(self, url: str) -> None:
        self._engine = connect(url)
        self._migrating = asyncio.Lock()  # Alembic's context is global to the process

    @property
    def location(self) -> str:
        """Where it is, for the operator."""
        return shown(self._engine.url)

    async def close(self) -> None:
        await self._engine.dispose()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """Yields a connection whose changes are committed together at the end. Raises StoreUnavailable."""
        with _errors():
            async with self._engine.connect() as connection:
                if _UP_TO_DATE not in connection.info:  # per connection: it may be the first one to a replaced database
                    async with self._migrating:
                        await connection.run_sync(bring_up_to_date)
                    await connection.rollback()  # the transaction that was started by reading the version
                    connection.info[_UP_TO_DATE] = True
                async with connection.begin():
                    yield connection


async def now(connection: AsyncConnection) -> float:
    """Returns the database's Unix time, since the clocks of servers may differ."""
    result = await connection.execute(select(func.current_timestamp(type_=DateTime(timezone=True))))
    time: datetime = result.scalar_one()
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        raise StoreUnavailable(str(cause).splitlines()[0] if str(cause) else type(cause).__name__) from error
