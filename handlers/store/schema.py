"""The tables of the database, and their migration from older versions by Alembic, on a given connection. JSON is stored
as bytes, which every database supports; no query needs its contents.
"""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    delete,
    false,
    insert,
    select,
)
from sqlalchemy.exc import SQLAlchemyError

from specvino.handlers.store.protocol import StoreUnusable

METADATA = MetaData()

_Id = String(512)
_Bytes = LargeBinary(2**32 - 1)  # MySQL's default would be 64 kB

RESPONSES = Table(
    "specvino_responses",
    METADATA,
    Column("id", _Id, primary_key=True),
    Column("previous_id", _Id, nullable=True, index=True),
    Column("created_at", Integer, nullable=False, index=True),
    Column("status", String(16), nullable=False),
    # The server that generates it; null when it is finished.
    Column("owner", String(32), nullable=True, index=True),
    # Its owner, derived from the key of its request; empty if the server has no keys.
    Column("key_owner", String(32), nullable=False, server_default=""),
    # Deleted, but a part of conversations that continue it.
    Column("hidden", Boolean, nullable=False, server_default=false(), index=True),
    Column("response", _Bytes, nullable=False),
    Column("input", _Bytes, nullable=False),
    # One per line, compressed.
    Column("events", _Bytes, nullable=False),
    # Of the three above, in bytes.
    Column("size", BigInteger, nullable=False, server_default="0"),
    Index("specvino_responses_by_size", "key_owner", "size"),
)

# The response that has an item of this id, in its input or its output.
ITEMS = Table(
    "specvino_items",
    METADATA,
    Column("item_id", _Id, nullable=False),
    Column("response_id", _Id, ForeignKey(RESPONSES.c.id, ondelete="CASCADE"), nullable=False),
    Index("specvino_items_by_item", "item_id"),
    Index("specvino_items_by_response", "response_id"),
)

CONVERSATIONS = Table(
    "specvino_conversations",
    METADATA,
    Column("id", _Id, primary_key=True),
    Column("key_owner", String(32), nullable=False),
    Column("created_at", Integer, nullable=False),
    # The last change (Unix seconds).
    Column("used_at", Float, nullable=False, index=True),
    # The number of items that were ever added: the position of the next one.
    Column("added", Integer, nullable=False),
    Column("metadata", _Bytes, nullable=False),
    # Of its items, in bytes.
    Column("size", BigInteger, nullable=False, server_default="0"),
    Index("specvino_conversations_by_size", "key_owner", "size"),
)

CONVERSATION_ITEMS = Table(
    "specvino_conversation_items",
    METADATA,
    Column("conversation_id", _Id, ForeignKey(CONVERSATIONS.c.id, ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("item_id", _Id, nullable=False, index=True),
    Column("item", _Bytes, nullable=False),
)

# The last heartbeat of each server (Unix seconds): unfinished responses of a lost server have failed.
SERVERS = Table(
    "specvino_servers",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("seen", Float, nullable=False),
)

# What the keys with limits have used: when (Unix seconds) a key has all its requests again, and all its tokens.
ACCOUNTS = Table(
    "specvino_accounts",
    METADATA,
    Column("key_owner", String(32), primary_key=True),
    Column("requests", Double, nullable=False),
    Column("tokens", Double, nullable=False),
)

# How many choices a server is generating for a key.
RUNNING = Table(
    "specvino_running",
    METADATA,
    Column("server_id", String(32), primary_key=True),
    Column("key_owner", String(32), primary_key=True),
    Column("sequences", Integer, nullable=False),
)

# A row: the oldest version whose servers may still read and write these tables, during a rolling update.
OLDEST_WRITER = Table(
    "specvino_oldest_writer",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
)

# The table with the version of the tables. Not Alembic's default name, since other applications may use the same
# database.
VERSION_TABLE = "specvino_schema_version"

_MIGRATIONS = Path(__file__).with_name("migrations")


def bring_up_to_date(connection: Connection) -> None:
    """Creates the tables, or migrates those of an older version. Those of a newer version stay, if servers of this one
    may still write them.

    Raises StoreUnusable if they may not, and SQLAlchemyError.
    """
    if _is_current(connection):
        return
    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
        connection.execute(delete(OLDEST_WRITER))
        connection.execute(insert(OLDEST_WRITER).values(version=_oldest_writer()))
        connection.commit()
    except SQLAlchemyError:
        connection.rollback()
        if not _is_current(connection):  # another server, started at the same time, may have migrated them
            raise


def version(connection: Connection) -> str | None:
    """Returns the version of a database's tables; None if there are none, or if they have no version yet."""
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


def _is_current(connection: Connection) -> bool:
    present = version(connection)
    own, *older = _versions()
    if present is None or present in older:
        return False
    if present != own:
        oldest = connection.execute(select(OLDEST_WRITER.c.version)).scalar()
        if oldest is None or oldest > int(own):
            raise StoreUnusable(
                f"its tables have version {present}, made by a newer specvino; this one supports versions up to {own}"
            )
    return True


@cache
def _versions() -> list[str]:
    """Returns all versions, the newest first."""
    return [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]


def _oldest_writer() -> int:
    return max(int(script.module.oldest_writer) for script in ScriptDirectory.from_config(_config()).walk_revisions())


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
