"""Conversations with their items."""

from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, String

revision = "4"
down_revision = "3"
oldest_writer = "1"

_Id = String(512)
_Bytes = LargeBinary(2**32 - 1)


def upgrade() -> None:
    """Creates the tables and indexes that don't exist."""
    op.create_table(
        "specvino_conversations",
        Column("id", _Id, primary_key=True),
        Column("key_owner", String(32), nullable=False),
        Column("created_at", Integer, nullable=False),
        Column("used_at", Float, nullable=False),
        Column("added", Integer, nullable=False),
        Column("metadata", _Bytes, nullable=False),
        if_not_exists=True,
    )
    op.create_index("ix_specvino_conversations_used_at", "specvino_conversations", ["used_at"], if_not_exists=True)
    op.create_table(
        "specvino_conversation_items",
        Column("conversation_id", _Id, ForeignKey("specvino_conversations.id", ondelete="CASCADE"), primary_key=True),
        Column("position", Integer, primary_key=True, autoincrement=False),
        Column("item_id", _Id, nullable=False),
        Column("item", _Bytes, nullable=False),
        if_not_exists=True,
    )
    op.create_index(
        "ix_specvino_conversation_items_item_id", "specvino_conversation_items", ["item_id"], if_not_exists=True
    )
