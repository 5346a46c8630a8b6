"""Responses belong to an owner. Older ones have the empty owner: a server without keys returns them."""

from alembic import op
from sqlalchemy import Column, String, inspect

revision = "2"
down_revision = "1"
oldest_writer = "1"


def upgrade() -> None:
    """Adds the column, unless a server that was killed has added it."""
    if all(column["name"] != "key_owner" for column in inspect(op.get_bind()).get_columns("specvino_responses")):
        op.add_column("specvino_responses", Column("key_owner", String(32), nullable=False, server_default=""))
