"""The tables of the database. JSON is kept as bytes: every database has those, and nothing is asked inside it."""

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table

METADATA = MetaData()

_Id = String(512)
_Bytes = LargeBinary(2**32 - 1)  # MySQL's default would be 64 kB

RESPONSES = Table(
    "specvino_responses",
    METADATA,
    Column("id", _Id, primary_key=True),
    Column("previous_id", _Id, nullable=True),
    Column("created_at", Integer, nullable=False, index=True),
    Column("status", String(16), nullable=False),
    # The server that works on it; null where it is finished.
    Column("owner", String(32), nullable=True, index=True),
    # Whom it belongs to, made of the key with which it was asked for; empty where the server has no keys.
    Column("key_owner", String(32), nullable=False, server_default=""),
    Column("response", _Bytes, nullable=False),
    Column("input", _Bytes, nullable=False),
    # One a line, compressed.
    Column("events", _Bytes, nullable=False),
)

# Which response has an item of this id, in its input or its output.
ITEMS = Table(
    "specvino_items",
    METADATA,
    Column("item_id", _Id, nullable=False),
    Column("response_id", _Id, ForeignKey(RESPONSES.c.id, ondelete="CASCADE"), nullable=False),
    Index("specvino_items_by_item", "item_id"),
    Index("specvino_items_by_response", "response_id"),
)

# When each server was last seen (Unix seconds): what a lost one had under way has failed.
SERVERS = Table(
    "specvino_servers",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("seen", Float, nullable=False),
)
