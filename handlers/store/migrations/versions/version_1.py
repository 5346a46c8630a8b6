"""The first tables. Databases from before the introduction of versions already have them."""

from alembic import op
from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, String

revision = "1"
down_revision = None
oldest_writer = "1"

_Id = String(512)
_Bytes = LargeBinary(2**32 - 1)


def upgrade() -> None:
    """Creates the tables and indexes that don't exist."""
    op.create_table(
        "specvino_responses",
        Column("id", _Id, primary_key=True),
        Column("previous_id", _Id, nullable=True),
        Column("created_at", Integer, nullable=False),
        Column("status", String(16), nullable=False),
        Column("owner", String(32), nullable=True),
        Column("response", _Bytes, nullable=False),
        Column("input", _Bytes, nullable=False),
        Column("events", _Bytes, nullable=False),
        if_not_exists=True,
    )
    for column in ("created_at", "owner"):
        op.create_index(f"ix_specvino_responses_{column}", "specvino_responses", [column], if_not_exists=True)
    op.create_table(
        "specvino_items",
        Column("item_id", _Id, nullable=False),
        Column("response_id", _Id, ForeignKey("specvino_responses.id", ondelete="CASCADE"), nullable=False),
        if_not_exists=True,
    )
    for name, column in (("item", "item_id"), ("response", "response_id")):
        op.create_index(f"specvino_items_by_{name}", "specvino_items", [column], if_not_exists=True)
    op.create_table(
        "specvino_servers",
        Column("id", String(32), primary_key=True),
        Column("seen", Float, nullable=False),
        if_not_exists=True,
    )
