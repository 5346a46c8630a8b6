"""The oldest version whose servers may still write these tables."""

from alembic import op
from sqlalchemy import Column, Integer

revision = "7"
down_revision = "6"
oldest_writer = "1"


def upgrade() -> None:
    """Creates the table if it doesn't exist; `schema.py` writes its row."""
    op.create_table(
        "specvino_oldest_writer",
        Column("version", Integer, primary_key=True, autoincrement=False),
        if_not_exists=True,
    )
