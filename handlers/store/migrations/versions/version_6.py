"""The accounts of keys with limits."""

from alembic import op
from sqlalchemy import Column, Double, Integer, String

revision = "6"
down_revision = "5"
oldest_writer = "1"


def upgrade() -> None:
    """Creates the tables that don't exist."""
    op.create_table(
        "specvino_accounts",
        Column("key_owner", String(32), primary_key=True),
        Column("requests", Double, nullable=False),
        Column("tokens", Double, nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "specvino_running",
        Column("server_id", String(32), primary_key=True),
        Column("key_owner", String(32), primary_key=True),
        Column("sequences", Integer, nullable=False),
        if_not_exists=True,
    )
