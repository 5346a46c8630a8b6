"""The connection to a database, and the handling of a database file."""

import contextlib
import logging
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import URL, event, make_url
from sqlalchemy.exc import InvalidatePoolError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

# How long (seconds) a write waits for others, of this server or of another one. On a busy disk, each takes seconds:
# with 5, a response wasn't stored beside a program that wrote files all the time. What takes longer is a fault, such as
# a frozen server.
PATIENCE = 60

# Databases limit connections (PostgreSQL to 100 by default), and many replicas share one. A transaction takes one or
# two milliseconds: a server with two connections has the same throughput as with fifteen (measured with PostgreSQL 15).
CONNECTIONS = 2

# What SQLite's write-ahead log is cut to when its contents are in the file.
_WAL_BYTES = 2**20

# SQLite doesn't wait (`timeout`) for the lock that a change of the journal mode takes, if another process changes it.
_ATTEMPTS = 100
_BETWEEN_ATTEMPTS = 0.01

logger = logging.getLogger("specvino.store")


def connect(url: str) -> AsyncEngine:
    """Returns an engine that hasn't connected yet. Raises ValueError with the reason in one line."""
    try:
        parsed = make_url(url)
        if parsed.drivername == "sqlite":
            parsed = parsed.set(drivername="sqlite+aiosqlite")
        if parsed.get_backend_name() != "sqlite":
            return create_async_engine(parsed, pool_pre_ping=True, pool_size=CONNECTIONS, max_overflow=0)
        engine = create_async_engine(parsed, connect_args={"timeout": PATIENCE})
        if parsed.database and parsed.database != ":memory:":
            _make_private(file := Path(parsed.database))
            _follow(engine, file)
    except SQLAlchemyError as error:
        raise ValueError(str(error).splitlines()[0]) from error
    except ModuleNotFoundError as error:
        raise ValueError(f"the database's driver is not installed: {error.name}") from error
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from error
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    return engine


def shown(url: URL) -> str:
    """Returns a URL without its password; for a file, its path."""
    if url.get_backend_name() == "sqlite" and url.database:
        return url.database
    return url.render_as_string(hide_password=True)


def _make_private(file: Path) -> None:
    """Creates the file if needed, readable only by its owner, since it contains users' requests. SQLite creates its
    other files with the same mode.

    A file that exists isn't opened: closing it would drop the locks of this process' connections, so that another
    process takes itself for the last one, and deletes the write-ahead log
    (https://www.sqlite.org/howtocorrupt.html, 2.2).
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))
    file.chmod(0o600)


def _set_wal(file: Path) -> None:
    """Sets the mode in which readers don't wait for writers. It is stored in the file. A new one can shrink."""
    with closing(sqlite3.connect(file, timeout=PATIENCE)) as connection:
        if not file.stat().st_size:  # it has no effect on a file with tables, and would wait for its writers
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or not attempts_left:
                    raise
                time.sleep(_BETWEEN_ATTEMPTS)


def _follow(engine: AsyncEngine, file: Path) -> None:
    """Replaces connections whose file was deleted or replaced: their writes would be lost silently."""

    def before(*_: Any) -> None:
        _make_private(file)
        _set_wal(file)

    def opened(_: Any, record: Any) -> None:
        record.info["file"] = _identity(file)

    def taken(_: Any, record: Any, __: Any) -> None:
        if record.info["file"] != _identity(file):
            logger.warning("the database %s was deleted or replaced; the server uses the new file", file)
            raise InvalidatePoolError

    event.listen(engine.sync_engine, "do_connect", before)
    event.listen(engine.sync_engine, "connect", opened)
    event.listen(engine.sync_engine, "checkout", taken)


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _prepare_sqlite(connection: Any, _: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous = FULL")  # a response is on the disk before its last event is sent
    cursor.execute("PRAGMA secure_delete = ON")  # deleted data are overwritten
    cursor.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    cursor.close()
